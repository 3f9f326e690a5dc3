"""Folders that are made once in a test run, by the first of its processes that needs them."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from filelock import FileLock

_given: list[Path] = []


def use_run_folder(folder: Path) -> None:
    """All processes of a run have the same one."""
    _given[:] = [folder]


def made_once(name: str, make: Callable[[Path], object]) -> Path:
    """A folder to be copied from. `make` creates it at the given path."""
    folder = (_given[0] if _given else _own_folder()) / name
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            partial = folder.with_suffix(".part")
            shutil.rmtree(partial, ignore_errors=True)  # Of an attempt that failed.
            make(partial)
            partial.rename(folder)
    return folder


@cache
def _own_folder() -> Path:
    """Of a program that is no test."""
    kept = tempfile.TemporaryDirectory()
    atexit.register(kept.cleanup)
    return Path(kept.name)
