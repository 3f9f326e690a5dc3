"""Which tests are slow: those that start processes, and those of the files listed here.

A test starts processes if its code, or that of a fixture it uses, reaches `subprocess`: directly,
or through functions and classes in `tests/`. Servers, browsers, nodes, the commands and the
authors' tool are all started there.
"""

import functools
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

_TESTS = Path(__file__).parents[1]
# They run in this process, but for seconds: random histories, large catalogs.
_LONG_FILES: frozenset[str] = frozenset()


def is_slow(item: pytest.Item) -> bool:
    if str(item.path.relative_to(_TESTS)) in _LONG_FILES or item.get_closest_marker("slow"):
        return True
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs
    fixtures = [it.func for name in item.fixturenames for it in definitions.get(name, ())[-1:]]
    return any(_starts_processes(it) for it in (item.function, *fixtures))


def _starts_processes(thing: Any) -> bool:
    seen: set[Any] = set()
    waiting = [thing]
    while waiting:
        for used in _used_by(waiting.pop()):
            if used is subprocess:
                return True
            if used not in seen:
                seen.add(used)
                waiting.append(used)
    return False


@functools.cache
def _used_by(thing: Any) -> tuple[Any, ...]:
    """The functions and classes of tests that are named in its code; `subprocess`, too."""
    if inspect.isclass(thing):
        members = [*vars(thing).values(), *thing.__bases__]
        return tuple(filter(_is_ours, map(_function_of, members)))
    function = _function_of(thing)
    if not isinstance(function, FunctionType):
        return ()
    names = {name for code in _all_code(function.__code__) for name in code.co_names}
    named = [function.__globals__[name] for name in names if name in function.__globals__]
    return tuple(it for it in map(_function_of, named) if it is subprocess or _is_ours(it))


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _function_of(thing: Any) -> Any:
    if isinstance(thing, (property, functools.cached_property)):
        thing = thing.fget if isinstance(thing, property) else thing.func
    if isinstance(thing, (staticmethod, classmethod)):
        thing = thing.__func__
    if isinstance(thing, functools.partial):
        thing = thing.func
    return inspect.unwrap(thing) if callable(thing) else thing


def _is_ours(thing: Any) -> bool:
    if not (inspect.isclass(thing) or isinstance(thing, FunctionType)):
        return False
    module = sys.modules.get(thing.__module__)
    return str(getattr(module, "__file__", "")).startswith(str(_TESTS))
