"""Thresholds of the garbage collector.

A start creates some hundred thousand objects that live as long as the process: modules, classes,
tables. Collecting with the default threshold scans them repeatedly, a tenth of the start.
"""

import gc

_WHILE_STARTING = 100_000
_usual = gc.get_threshold()


def raise_gc_threshold() -> None:
    gc.set_threshold(_WHILE_STARTING)


def restore_gc_threshold() -> None:
    """For a worker. Objects that exist now are not scanned again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_usual)
