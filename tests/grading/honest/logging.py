import logging

def f():
    logging.warning('hm')
    try:
        1 / 0
    except ZeroDivisionError:
        logging.exception('so')
    return 1
