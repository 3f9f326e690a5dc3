"""Disk space for files that are mapped into memory."""

import os
import sys


def allocate(descriptor: int, size: int) -> None:
    """Allocate disk space for this many bytes of a file, so that they can be mapped and written."""
    if sys.platform == "darwin":  # Not available there: a full disk is not handled.
        os.ftruncate(descriptor, max(size, os.fstat(descriptor).st_size))
    else:
        os.posix_fallocate(descriptor, 0, size)
