"""Which tests are slow: those that start processes, and those of the files listed here; and in
which order files are started.

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
LONG_FILES = {
    "accounts/test_locked_account.py",
    "app/test_hostile_requests.py",
    "catalog/search/test_search_against_oracle.py",
    "catalog/search/test_search_in_a_large_catalog.py",
    "catalog/test_remembered_responses.py",
}
# The files that take longest, by `--durations`, longest first.
LONGEST_FILES = (
    "nodes/test_chaos.py",
    "nodes/test_balancer.py",
    "crash/test_chaos.py",
    "app/test_without_a_room.py",
    "nodes/test_api_on_postgresql.py",
    "browser/test_accessibility.py",
    "catalog/pages/test_preview_in_browser.py",
    "transfer/test_import_kill.py",
    "nodes/test_unlike_nodes.py",
    "nodes/test_bundles_on_s3.py",
    "accounts/second_factor/test_second_factor_in_browser.py",
    "crash/test_held_lock.py",
    "client/test_types.py",
    "browser/test_managing.py",
    "publishing/test_publish_kill.py",
    "backup/test_backup_drill.py",
    "nodes/test_other_users.py",
    "publishing/test_uploads_under_load.py",
    "publishing/test_parallel_publishes.py",
    "nodes/test_following.py",
    "tool/test_end_to_end.py",
    "snapshot/test_snapshot_kill.py",
    "browser/test_hostile_texts.py",
    "docs/test_samples_in_browser.py",
    "catalog/search/test_search_against_oracle.py",
    "catalog/test_remembered_responses.py",
)


def start_order(item: pytest.Item, slow_files: set[Path]) -> int:
    """Short files last: while one process still has a long one, the others have nothing to do."""
    name = str(item.path.relative_to(_TESTS))
    if name in LONGEST_FILES:
        return LONGEST_FILES.index(name)
    return len(LONGEST_FILES) + (item.path not in slow_files)


def is_slow(item: pytest.Item) -> bool:
    if str(item.path.relative_to(_TESTS)) in LONG_FILES or item.get_closest_marker("slow"):
        return True
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs
    fixtures = [it.func for name in item.fixturenames for it in definitions.get(name, ())[-1:]]
    return any(_starts_processes(it) for it in (item.function, *fixtures))


@functools.cache
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
