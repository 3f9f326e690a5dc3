"""A process whose disk fails: it publishes, every fdatasync of the database fails, it is killed.

    python -m publishing.failing_fsync DATA VERSION

The kernel itself rejects the call (a seccomp filter), so SQLite gets the error at the same point
as with a real disk: all pages of the commit are in the write-ahead log, and they are not synced.
It prints the publisher's error, and whether the version is visible to others.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
from pathlib import Path

from publishing.publisher import publish
from widget_catalog.catalog.node.node import open_node
from widget_catalog.catalog.store.widgets import find_widget
from widget_catalog.core.errors import StoreUnavailable
from widget_contract.names import Scope, WidgetName

_FDATASYNC = {"x86_64": 75, "aarch64": 83}
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def fail_fdatasync() -> None:
    """From now on, fdatasync always returns EIO in this thread. Bundles use fsync."""
    instructions = [
        (_LOAD, 0, 0, 0),  # The number of the system call.
        (_JUMP_IF_EQUAL, 1, 0, _FDATASYNC[platform.machine()]),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FAIL | errno.EIO),
    ]
    code = b"".join(struct.pack("HBBI", *it) for it in instructions)
    kept = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(instructions), ctypes.cast(kept, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        _SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "no filter for system calls")


def main(data: Path, version: str) -> None:
    try:
        publish(data, version, before_confirm=fail_fdatasync)
        print("published")
    except StoreUnavailable as error:
        print(error.message)
    with open_node(data).store.reading() as connection:
        stored = find_widget(connection, Scope("ann"), WidgetName("clock"))
    print("visible" if stored is not None else "not visible", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
