"""Continuous backup: a snapshot at an interval, if anything has changed."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from widget_contract.errors import CatalogError

from .copying import ChangeWatch
from .making import FolderBackup, Made


def keep_copying(
    backup: FolderBackup,
    database: Path,
    every_s: float,
    is_over: threading.Event,
    on_made: Callable[[Made, float], None],
    on_failure: Callable[[CatalogError], None],
) -> None:
    """Runs until `is_over`. Failures are retried the next time: a disk may have space by then.

    A change is in a snapshot at most `every_s` plus the duration of one copy later.
    """
    watch = ChangeWatch(database)
    copied: tuple[int, int] | None = None
    while True:
        began = time.monotonic()
        try:
            state = watch.state()
            if state == copied:
                backup.is_alive()
            else:
                # Only the first database copy is checked thoroughly, including its indexes.
                made = backup.add_snapshot(is_thorough=copied is None)
                copied = state
                on_made(made, time.monotonic() - began)
        except CatalogError as error:
            on_failure(error)
        took_s = time.monotonic() - began
        # Pause at least as long as the copy took, so that slow copies do not run without a break.
        if is_over.wait(max(every_s - took_s, took_s)):
            break
    watch.close()
