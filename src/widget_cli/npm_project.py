"""A widget that is built by npm scripts: `package.json` next to its manifest."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .console import say
from .errors import ToolError

BUILD = "npm run build"
RUN_BUILD = f"Run: {BUILD}"
WATCH = "watch"
_FIRST_BUILD_S = 20.0
_END_WITHIN_S = 5


def npm_scripts(folder: Path) -> dict[str, str]:
    """The scripts of its package.json; none if there is no readable one."""
    try:
        found = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        scripts = found.get("scripts", {})
        return {key: it for key, it in scripts.items() if isinstance(it, str)}
    except (OSError, ValueError, RecursionError, AttributeError):
        return {}


def find_newer_source(folder: Path, built: Path) -> str | None:
    """A file in `src`, and no test, that was changed after the built file, if npm builds that.

    None in CI: there, files are as new as the checkout, and what an earlier job built is older.
    """
    if "build" not in npm_scripts(folder) or os.environ.get("CI"):
        return None
    with contextlib.suppress(OSError):
        built_ns = built.stat().st_mtime_ns
        for parent, _, names in os.walk(folder / "src"):
            for name in sorted(names):
                is_test = ".test." in name or ".spec." in name
                if not is_test and Path(parent, name).stat().st_mtime_ns > built_ns:
                    return Path(parent, name).relative_to(folder).as_posix()
    return None


@contextlib.contextmanager
def watching(folder: Path, built_at: Callable[[], float]) -> Iterator[None]:
    """Run the script `watch`, if there is one, until the block ends.

    The block begins after its first build. `built_at` is when the module was written.
    """
    if WATCH not in npm_scripts(folder):
        yield
        return
    npm = shutil.which("npm")
    if npm is None:
        raise ToolError("npm, which builds this widget, was not found.", "Install Node.js.")
    if not (folder / "node_modules").exists():
        where = "" if folder == Path() else f" in {folder}"
        hint = f"Run{where}: npm install"
        raise ToolError("The dependencies of this widget are not installed.", hint)
    say.print("Building it with [bold]npm run watch[/] …")
    started = time.time()
    # In a group of its own, because npm starts further processes.
    process = subprocess.Popen(  # noqa: S603 - the author's own script
        [npm, "run", "--silent", "watch"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        with _leaving_orderly():
            while built_at() < started and process.poll() is None:
                if time.time() - started > _FIRST_BUILD_S:
                    break
                time.sleep(0.05)
            yield
    finally:
        _end(process)


@contextlib.contextmanager
def _leaving_orderly() -> Iterator[None]:
    """Leave the block if the terminal is closed, too: the script would go on otherwise."""
    ends = [getattr(signal, it) for it in ("SIGHUP", "SIGTERM") if hasattr(signal, it)]
    before = {it: signal.signal(it, lambda number, _: sys.exit(128 + number)) for it in ends}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.terminate()
    try:
        process.wait(_END_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
