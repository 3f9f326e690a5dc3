"""Converts simple command-line values of the service and the tool without pydantic.

Typer converts every value with pydantic, which takes longer to load than most commands run. Valid
strings, paths, whole numbers and choices do not need it; Typer handles the rest, with its error
messages.
"""

import os
from collections.abc import Callable
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

_NOT_PLAIN = object()


def convert_plainly(parameter: Any) -> None:
    """Let a Typer parameter convert simple values without pydantic."""
    if "get_runtime_param" not in vars(parameter):
        parameter.get_runtime_param = partial(_Plain, parameter.get_runtime_param)


class _Plain:
    """Replaces Typer's converter, which is created only when needed."""

    def __init__(self, typers_own: Callable[[], Any]) -> None:
        self._typers_own = typers_own

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        is_list = param.multiple or param.nargs == -1
        if value is None:
            return () if is_list else None
        kind, rules = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        plain = _texts(value, kind) if is_list else _plain(value, kind, rules)
        if plain is _NOT_PLAIN:
            return self._typers_own().coerce(value, param=param, ctx=ctx)
        return plain


def _texts(values: Any, kind: Any) -> Any:
    is_plain = kind == list[str] and all(type(it) is str for it in values)
    return list(values) if is_plain else _NOT_PLAIN


def _plain(value: Any, kind: Any, rules: Any) -> Any:
    if rules.parser is not None or not isinstance(kind, type):
        return _NOT_PLAIN
    if kind is str and type(value) is str:
        return value
    if kind is int and (type(value) is int or (type(value) is str and _is_number(value))):
        number = int(value)
        least, most = rules.min, rules.max
        is_allowed = (least is None or number >= least) and (most is None or number <= most)
        return number if is_allowed else _NOT_PLAIN
    if kind is Path and isinstance(value, str | Path):
        is_fine = os.access(value, os.R_OK) or not os.path.lexists(value)
        return Path(value) if is_fine else _NOT_PLAIN
    if issubclass(kind, Enum) and type(value) is str and value in {it.value for it in kind}:
        return kind(value)
    return _NOT_PLAIN


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
