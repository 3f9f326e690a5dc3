"""`widget-catalog` as a person uses it: what it says, where, and with which exit code."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from support.service import run_command


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
    """Run a command to its end. It never shows a stack trace, whatever it is asked to do."""
    done = run_command(
        *map(str, arguments), stdin=stdin, environment=environment, before=before, folder=folder
    )
    said = Said(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in said.out + said.err, said
    return said
