"""`widget-catalog` as a person uses it: its output and exit code."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from support.service import clean_environment, run_command


class Said(NamedTuple):
    code: int
    out: str
    err: str


def widget_catalog(
    *arguments: str | Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    before: Callable[[], None] | None = None,
    folder: Path | None = None,
) -> Said:
    """Run a command to its end. It never prints a stack trace."""
    done = run_command(
        *map(str, arguments), stdin=stdin, environment=environment, before=before, folder=folder
    )
    said = Said(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in said.out + said.err, said
    return said


def loaded_by(module: str, *arguments: str) -> set[str]:
    """The top-level packages that are loaded after one of our commands."""
    return {name.partition(".")[0] for name in modules_loaded_by(module, *arguments)}


def modules_loaded_by(module: str, *arguments: str) -> set[str]:
    """The full names of the modules that are loaded after one of our commands."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(),
    )
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    # Otherwise nothing was checked.
    assert module in names
    return names
