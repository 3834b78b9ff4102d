# Flags, limits, garbage collection, warnings, locale.
import gc
import locale
import sys
import warnings

print(sys.flags, sys._xoptions, sys.warnoptions, sys.dont_write_bytecode, sys.pycache_prefix)
print(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks, gc.garbage)
print(warnings.filters, warnings.showwarning, warnings.defaultaction, warnings.onceregistry)
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.int_info, sys.get_int_max_str_digits())
print(locale.setlocale(locale.LC_ALL), locale.getlocale(), locale.getpreferredencoding())
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
print(sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth(), sys.hash_info)
print(sys.version, sys.implementation, sys.float_info, sys.thread_info, sys.api_version)
print(hasattr(sys, "last_value"), hasattr(sys, "ps1"), sys.exc_info(), sys.getdlopenflags())
print(sorted(vars(sys)))
print(sys.is_finalizing(), sys.stdlib_module_names is not None, sys.getallocatedblocks() > 0)
import tracemalloc, faulthandler

print(tracemalloc.is_tracing(), faulthandler.is_enabled())
