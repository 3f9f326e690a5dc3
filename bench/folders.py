"""Data folders of generated catalogs: created once by the real import, kept in .cache/bench."""

import contextlib
import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

from widget_catalog.catalog.replica.records import FORMAT
from widget_catalog.core.db import migrations

from . import catalogs
from .measures import BenchError
from .rig import CACHE, say
from .servers import catalog_command, clean_environment

_STEP = 500
_CHUNK_BYTES = 1 << 22


def ensure_folder(widgets: int, versions: int | None = None, *, has_texts: bool = False) -> Path:
    """The data folder of a catalog of this many widgets, created if necessary. Do not write to it.

    Each widget has exactly this many versions, or five on average; `has_texts`: with keywords and
    READMEs. Use `copy_of` to count downloads.
    """
    name = str(widgets) if versions is None else f"{widgets}-{versions}"
    folder = CACHE / (f"{name}-texts" if has_texts else name)
    stamp = folder / "fingerprint"
    if stamp.exists() and stamp.read_text() == fingerprint(widgets):
        return folder
    making = folder.with_suffix(".part")
    for old in (folder, making):
        shutil.rmtree(old, ignore_errors=True)
    _make(making, widgets, versions, has_texts=has_texts)
    (making / "fingerprint").write_text(fingerprint(widgets))
    making.rename(folder)
    return folder


def warmed(folder: Path) -> Path:
    """This folder, with its files in the page cache, as on a machine in use."""
    for path in (*(folder / "replica").glob("*.mdb"), folder / "catalog.db", folder / "run/index"):
        with contextlib.suppress(FileNotFoundError), path.open("rb", buffering=0) as file:
            while file.read(_CHUNK_BYTES):
                pass
    return folder


def copy_of(folder: Path, target: Path) -> Path:
    """A writable copy. The files in `run` are rebuilt at every start."""
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("run"))
    return target


def fingerprint(widgets: int) -> str:
    """The inputs of a folder: the generator, the tables, the read model, the size."""
    digest = hashlib.sha256(f"{widgets} {FORMAT}".encode())
    tables = Path(migrations.__path__[0]).glob("versions/*.py")
    for path in (Path(catalogs.__file__), *sorted(tables)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _make(folder: Path, widgets: int, versions: int | None, *, has_texts: bool) -> None:
    progress = _Progress(f"Making a catalog of {widgets:,} widgets (once)", widgets)
    with subprocess.Popen(
        catalog_command("import", "-", "--data", str(folder)),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as importer:
        assert importer.stdin is not None
        assert importer.stderr is not None
        try:
            is_exact = versions is not None
            made = catalogs.lines(widgets, versions or 5, is_exact=is_exact, has_texts=has_texts)
            for number, line in enumerate(made, start=1):
                importer.stdin.write(line)
                if number % _STEP == 0:
                    progress.show(number)
            importer.stdin.close()
        except BrokenPipeError:
            pass  # The reason is printed below.
        except BaseException:
            importer.kill()
            raise
        complaint = importer.stderr.read().decode().strip()
    if importer.returncode:
        raise BenchError(f"The import failed: {complaint}")
    progress.end()


class _Progress:
    """One line that is written over on a terminal; a line every tenth elsewhere."""

    def __init__(self, what: str, total: int) -> None:
        self._what = what
        self._total = total
        self._began = self._shown_at = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        say(f"{what} …")

    def show(self, done: int) -> None:
        now = time.monotonic()
        if self._is_terminal:
            is_due = now - self._shown_at > 0.2
        else:
            is_due = done % (self._total // 10 or 1) < _STEP
        if not is_due:
            return
        self._shown_at = now
        rate = done / (now - self._began)
        line = f"  {done / self._total:4.0%}  {rate:,.0f} a second, "
        line += f"{(self._total - done) / rate:,.0f} s left"
        print(f"\r{line}\033[K" if self._is_terminal else line, end="", file=sys.stderr)
        print("" if self._is_terminal else "\n", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        print("\r\033[K" if self._is_terminal else "", end="", file=sys.stderr)
        say(f"{self._what}: {time.monotonic() - self._began:,.0f} s.")
