"""Early errors: what a JavaScript engine rejects in a module whose grammar is valid.

QuickJS compiles the module without running it: an unresolvable import is appended, so that the
engine stops after compiling.
"""

import codecs
import re
import threading
from typing import NamedTuple

_MAX_COMPILE_S = 10.0
_STACK_BYTES = 16 * 1024 * 1024  # The engine takes up to 1 MiB, more than some systems' default.
_NEVER = "widget-cli:never"
_UNRESOLVABLE = f"\nimport '{_NEVER}';"
_REPORT = re.compile(r"SyntaxError: (?P<message>.+)(?:\s+at <input>:(?P<row>\d+):(?P<column>\d+))?")
_LINE_BREAK = re.compile(rb"\r\n|\r|\n")
# "too many closure variables" and the like: limits of this engine, not errors of the module.
_OWN_LIMIT = "too many "


class EarlyError(NamedTuple):
    """`offset` is in bytes, often that of the token after the wrong one."""

    message: str
    offset: int | None


def find_early_error(content: bytes) -> EarlyError | None:
    """The first early error of a module; None also if the engine is not available."""
    source = content.removeprefix(codecs.BOM_UTF8)  # As browsers do.
    found = _REPORT.match(_compile(source.decode() + _UNRESOLVABLE))
    if not found or found["message"].startswith(_OWN_LIMIT):
        return None
    if not found["row"]:
        return EarlyError(found["message"], None)
    offset = len(content) - len(source) + _offset(source, int(found["row"]), int(found["column"]))
    return EarlyError(found["message"], offset)


def is_compiled(content: bytes) -> bool:
    """Whether the engine compiles the module; False also if it is not available."""
    source = content.removeprefix(codecs.BOM_UTF8).decode()
    return _NEVER in _compile(source + _UNRESOLVABLE).partition("\n")[0]


def _compile(source: str) -> str:
    """The engine's report; empty if it is not installed or takes too long."""
    try:
        import quickjs
    except ImportError:  # There is no wheel for some platforms, such as macOS on Intel.
        return ""
    reports: list[str] = []

    def work() -> None:
        try:
            quickjs.Context().module(source)
        except (quickjs.JSException, quickjs.StackOverflow) as error:
            reports.append(str(error))

    # A thread, because compiling cannot be interrupted. A daemon does not keep the process alive.
    before = threading.stack_size(_STACK_BYTES)
    try:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(_MAX_COMPILE_S)
    return reports[0] if reports else ""


def _offset(content: bytes, row: int, column: int) -> int:
    starts = [0, *(it.end() for it in _LINE_BREAK.finditer(content))]
    start = starts[row - 1] if row <= len(starts) else len(content)  # In the import that was added.
    return min(start + column - 1, len(content))
