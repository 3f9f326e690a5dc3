"""Runs the commands of a set-up: one line each for a person, all their output in a log."""

import contextlib
import errno
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
LOG = ROOT / ".cache" / "set-up.log"

_LAST_LINES = 20
_DISK_FULL = ("No space left on device", "os error 28", "Disk quota exceeded", "os error 122")


class StepFailed(Exception):
    """A command has failed; its output is at the end of the log."""

    def __init__(self, command: list[str], code: int) -> None:
        self.last_lines = LOG.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        self.is_disk_full = any(it in line for line in self.last_lines for it in _DISK_FULL)
        name = " ".join(Path(it).name if it.startswith("/") else it for it in command[:4])
        super().__init__(f"{name} … ended with exit code {code}")


class _Step:
    """The current step; there is one at a time."""

    text = ""
    began = 0.0


@contextlib.contextmanager
def step(text: str) -> Iterator[None]:
    """A line that says what is being done, and how long it took."""
    _Step.text, _Step.began = f"  {text} …", time.monotonic()
    print(_Step.text, end="", file=sys.stderr, flush=True)
    try:
        yield
        _show_time(is_end=True)
    finally:
        _Step.text = ""
        say("")


def run(*command: object, env: Mapping[str, str] | None = None) -> None:
    """Run a command with its output in the log."""
    words = [*map(str, command)]
    LOG.parent.mkdir(exist_ok=True)
    with LOG.open("a") as log:
        log.write(f"\n$ {' '.join(words)}\n")
        log.flush()
        with subprocess.Popen(
            words,
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            close_fds=False,  # So that a lock can be inherited.
        ) as process:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = process.wait(1)
                    break
                _show_time()
    if code:
        raise StepFailed(words, code)


def _show_time(*, is_end: bool = False) -> None:
    if _Step.text and (is_end or sys.stderr.isatty()):
        start = f"\r{_Step.text}" if sys.stderr.isatty() else ""
        took = f" {time.monotonic() - _Step.began:.0f} s"
        print(start + took, end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fail(failure: StepFailed | OSError) -> NoReturn:
    """Exit with a message that a person can act on."""
    match failure:
        case StepFailed(is_disk_full=True) | OSError(errno=errno.ENOSPC | errno.EDQUOT):
            free_mb = shutil.disk_usage(ROOT).free // 2**20
            sys.exit(
                f"The disk is full ({free_mb} MB free in {ROOT}; .venv takes about 900 MB). "
                "Make room, then start again."
            )
        case StepFailed():
            lines = "".join(f"    {line}\n" for line in failure.last_lines)
            sys.exit(
                f"The set-up failed: {failure}. Its last lines:\n\n{lines}\n"
                f"All of its output is in {LOG}. Start again when that is solved."
            )
        case _:
            sys.exit(f"./dev cannot use {failure.filename}: {failure.strerror}.")
