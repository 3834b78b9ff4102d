# Cause, context, notes and groups.
def low():
    raise KeyError("low")


try:
    try:
        low()
    except KeyError as error:
        error.add_note("a note\nof two lines")
        raise ValueError("high") from error
except ValueError as error:
    try:
        raise ExceptionGroup("group", [error, TypeError("other"), ExceptionGroup("in", [OSError(2, "no")])])
    except ExceptionGroup:
        1 / 0
