"""How often Python looks for garbage.

While a command starts it makes some hundred thousand objects that stay: modules, classes, tables.
To look through them for garbage, repeatedly, takes a tenth of the start.
"""

import gc

_WHILE_STARTING = 100_000
_usual = gc.get_threshold()


def look_rarely() -> None:
    gc.set_threshold(_WHILE_STARTING)


def look_as_usual() -> None:
    """What is there now stays, and is not looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_usual)
