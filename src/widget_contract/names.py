"""Scope and WidgetName: identifiers are types, parsed once at the edge."""

import re
from typing import Self

from .errors import InvalidName

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}\Z")
_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,63}/[a-z0-9][a-z0-9-]{0,63}\Z")


class _Name(str):
    """`^[a-z0-9][a-z0-9-]*$`, at most 64 characters, case-sensitive."""

    __slots__ = ()
    _what = "name"

    @classmethod
    def parse(cls, text: str) -> Self:
        if _NAME.match(text) is None:
            raise InvalidName(
                f"{text[:80]!r} is not a {cls._what}: use 1 to 64 small letters, digits and "
                "hyphens, beginning with a letter or digit."
            )
        return cls(text)


class Scope(_Name):
    """Where widgets are published: a person's or an organization's own namespace."""

    __slots__ = ()
    _what = "scope"


class WidgetName(_Name):
    """A widget's name inside its scope."""

    __slots__ = ()
    _what = "widget name"


def is_name(text: str) -> bool:
    """Whether a text could be a scope or a widget name at all."""
    return _NAME.match(text) is not None


def is_widget_key(text: str) -> bool:
    """Whether a text could be `scope/name`."""
    return _KEY.match(text) is not None
