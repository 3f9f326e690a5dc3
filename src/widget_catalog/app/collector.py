"""Thresholds of the garbage collector.

A start creates some hundred thousand objects that live as long as the process: modules, classes,
tables. Collecting with the default threshold scans them repeatedly, a tenth of the start.
"""

import gc

_WHILE_STARTING = 100_000
# Caches fill with objects that are not garbage. With the default of 700, looking through them took
# a tenth of the time of new searches.
_WHILE_SERVING = 10_000


def raise_gc_threshold() -> None:
    gc.set_threshold(_WHILE_STARTING)


def lower_gc_threshold() -> None:
    """For a worker. Objects that exist now are not scanned again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_WHILE_SERVING)
