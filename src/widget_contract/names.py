"""Scope and WidgetName: types of identifiers, parsed once at the boundary."""

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
                f"{text[:80]!r} is not a {cls._what}: use 1 to 64 lowercase letters, digits and "
                "hyphens, beginning with a letter or digit."
            )
        return cls(text)


class Scope(_Name):
    """The namespace of a person or an organization, in which widgets are published."""

    __slots__ = ()
    _what = "scope"


class WidgetName(_Name):
    """A widget's name within its scope."""

    __slots__ = ()
    _what = "widget name"


def is_name(text: str) -> bool:
    """Whether a text is a valid scope or widget name."""
    return _NAME.match(text) is not None


def is_widget_key(text: str) -> bool:
    """Whether a text is a valid `scope/name`."""
    return _KEY.match(text) is not None
