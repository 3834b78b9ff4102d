# Where modules come from.
import sys

print(sys.path)
print(list(sys.path_importer_cache))
print(sys.meta_path, sys.path_hooks)
import json

print(list(sys.path_importer_cache))
print(sys.path_importer_cache["/workspace"])
import xml.dom.minidom

print(list(sys.path_importer_cache))
