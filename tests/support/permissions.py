"""Permissions that apply to root too, so that tests do not depend on the user."""

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE = 1
_CAP_DAC_READ_SEARCH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def without_root_powers() -> None:
    """In a new process, before its program: drops root's capabilities to read and write
    everything.
    """
    if os.geteuid() != 0:
        return
    for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Inside, this folder is read-only for processes without root's capabilities."""
    modes = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")]}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
