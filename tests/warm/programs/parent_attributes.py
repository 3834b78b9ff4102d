# A package has only those submodules that somebody imported.
import collections
import concurrent
import ctypes
import email
import importlib
import json
import logging
import os
import xml

print(hasattr(xml, "etree"), hasattr(xml, "dom"), hasattr(concurrent, "futures"))
print(hasattr(importlib, "util"), hasattr(importlib, "machinery"), hasattr(importlib, "abc"))
print(hasattr(collections, "abc"), hasattr(os, "path"), hasattr(json, "tool"), hasattr(json, "decoder"))
print(hasattr(ctypes, "util"), hasattr(ctypes, "wintypes"), hasattr(logging, "handlers"))
print(hasattr(email, "message"), hasattr(email, "utils"))
for module in (collections, ctypes, importlib, json, logging, xml):
    print(sorted(name for name in vars(module)))
import importlib.util
import xml.etree.ElementTree

print(hasattr(xml, "etree"), hasattr(xml.etree, "cElementTree"), importlib.util)
import asyncio

print(sorted(vars(asyncio)))
try:
    concurrent.futures.thread
except AttributeError as error:
    print(error)
