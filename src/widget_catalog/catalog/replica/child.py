"""Runs work that may crash its process in a child: LMDB trusts its own pages."""

import os
import warnings
from collections.abc import Callable

_FAILED = 1


def start(work: Callable[[], int]) -> int:
    """Returns its process id. It exits with the exit code that `work` returns."""
    with warnings.catch_warnings():
        # About threads, which the child does not need.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        code = _FAILED
        try:
            code = work()
        finally:
            os._exit(code)
    return child


def wait(child: int) -> int:
    """Its exit code; below zero if it was killed."""
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)
