# Logging as programs use it.
import logging
import sys

print(logging.root.handlers, logging.root.level, logging.Logger.manager.loggerDict, logging._handlers.data)
logging.warning("to stderr, once")
logging.getLogger("a.b").error("an error: %d", 5)
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(processName)s %(threadName)s %(module)s %(message)s", force=True)
logging.info("not shown")
logging.critical("shown")
try:
    1 / 0
except ZeroDivisionError:
    logging.exception("with traceback")
logging.error("%d", "not a number")
