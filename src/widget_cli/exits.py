"""The exit codes of the tool, for scripts. `docs/publishing.md` lists them, too."""

from enum import IntEnum


class ExitCode(IntEnum):
    """An exit code with its `meaning`."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> "ExitCode":
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done"
    FAILED = 1, "refused or failed"
    USAGE = 2, "usage error"
    NOT_SIGNED_IN = 3, "not signed in"
    NOT_ALLOWED = 4, "not allowed"
    INVALID_WIDGET = 5, "invalid widget"
    CONFLICT = 6, "already exists"
    UNREACHABLE = 7, "catalog unreachable"
    TOO_OLD = 8, "tool too old"
    NOT_FOUND = 9, "not found"
    LIMITED = 10, "limit reached"
    INTERRUPTED = 130, "stopped by Ctrl-C"
