"""Errors of an import file: the first ones, and how many more there are."""

from bisect import insort

from ..core.errors import InvalidImport

# Limits: reported errors, listed lines of owned scopes, and characters of an error.
_MAX_FAULTS = 20
_MAX_LINES = 5
_MAX_CHARACTERS = 300
# For at most this many lines with other errors, the owner of the scope is looked up.
_MAX_NOTED = 1000

_OWNERS = {"personal": "an account", "organization": "an organization"}


class ImportFaults:
    def __init__(self) -> None:
        self._faults: list[tuple[int, str]] = []
        self._count = 0
        self._owned: dict[str, _OwnedScope] = {}
        self.noted: list[tuple[int, str]] = []
        """Lines with a fault and the scopes they name, which may belong to somebody besides."""

    def note_scope(self, line: int, scope: str) -> None:
        if len(self.noted) < _MAX_NOTED:
            self.noted.append((line, scope))

    def add(self, line: int, sentence: str) -> None:
        """The errors of the first lines are reported, in whatever order they are found."""
        self._count += 1
        if len(self._faults) < _MAX_FAULTS or line < self._faults[-1][0]:
            insort(self._faults, (line, _printable(sentence)), key=lambda it: it[0])
            del self._faults[_MAX_FAULTS:]

    def add_owned(self, line: int, scope: str, kind: str) -> None:
        """A line adds to an owned scope. All such lines are one error."""
        self._owned.setdefault(scope, _OwnedScope(scope, kind)).add(line)

    def check(self) -> None:
        """Raises InvalidImport if there is any error."""
        owned = [it.fault() for it in list(self._owned.values())[:_MAX_FAULTS]]
        shown = sorted([*self._faults, *owned], key=lambda it: it[0])[:_MAX_FAULTS]
        if shown:
            more = self._count + len(self._owned) - len(shown)
            raise InvalidImport([f"Line {line}: {fault}" for line, fault in shown], more)


class _OwnedScope:
    def __init__(self, scope: str, kind: str) -> None:
        self._scope = scope
        self._kind = kind
        self._lines: list[int] = []
        self._count = 0

    def add(self, line: int) -> None:
        self._count += 1
        insort(self._lines, line)
        del self._lines[_MAX_LINES:]

    def fault(self) -> tuple[int, str]:
        first, *others = self._lines
        also = ""
        if others:
            lines = f"line{'s' if len(others) > 1 else ''} {', '.join(map(str, others))}"
            unnamed = self._count - len(self._lines)
            also = f" (also in {lines}{f' and {unnamed:,} more' if unnamed else ''})"
        return first, (
            f"scope: {self._scope} belongs to {_OWNERS[self._kind]}{also}. Give --into-owned to "
            "add to it."
        )


def _printable(text: str) -> str:
    """Shortened, without terminal escapes: it may quote the file."""
    if len(text) > _MAX_CHARACTERS:
        text = f"{text[:_MAX_CHARACTERS]}…"
    return "".join(it if it.isprintable() else ascii(it)[1:-1] for it in text)
