"""Work that can be killed at any moment: a process that forks a child for every input line.

The process has imported everything before, so that a kill hits the work and not the imports. A
module that calls `run_children` is such a process; `children_of` starts it.
"""

import contextlib
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from support.service import clean_environment

_TESTS = Path(__file__).parents[1]


def run_children(work: Callable[[str], int]) -> None:
    """For every line on standard input: print the process id of a child, then its exit code."""
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                code = work(line.strip())
            except BaseException:
                traceback.print_exc()
                code = 255
            os._exit(code)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


class Children:
    """One at a time."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def start(self, line: object = "") -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._read()

    def wait(self) -> int:
        """The exit code: negative if it was killed."""
        return self._read()

    def _read(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@contextlib.contextmanager
def children_of(module: str, *arguments: object) -> Iterator[Children]:
    environment = clean_environment({"PYTHONPATH": str(_TESTS)})
    with subprocess.Popen(
        [sys.executable, "-m", module, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            yield Children(process)
        finally:
            process.kill()


def kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
