"""Which tests are slow: those that start processes, and those of the files listed here; and in
which order files are started.

A test starts processes if its code, that of a fixture it uses, or a function it is parametrized
with reaches `subprocess` or Playwright: directly, or through functions and classes in `tests/`.
Servers, browsers, nodes, the commands and the authors' tool are all started there.
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
from playwright.sync_api import sync_playwright

_TESTS = Path(__file__).parents[1]
# They run in this process, but for seconds (random histories, large catalogs, time limits), or our
# code starts processes in them (pictures, compression, JavaScript).
LONG_FILES = {
    "accounts/test_locked_account.py",
    "app/test_every_page.py",
    "app/test_hostile_requests.py",
    "app/test_longest_steps.py",
    "backup/test_folder.py",
    "bench/test_catalogs.py",
    "bench/test_traffic.py",
    "catalog/api/test_compressed_bundles.py",
    "catalog/search/test_search_against_oracle.py",
    "catalog/search/test_search_file.py",
    "catalog/search/test_search_in_a_large_catalog.py",
    "catalog/search/test_words_against_oracle.py",
    "catalog/reading/test_encode_bundles.py",
    "catalog/reading/test_remembered_responses.py",
    "core/db/test_old_databases.py",
    "publishing/test_attached_files.py",
    "publishing/test_publish_form_files.py",
    "python_client/test_hostile_catalogs.py",
    "tool/test_javascript.py",
    "tool/test_login.py",
    "transfer/test_import_of_many.py",
    "transfer/test_staged_import.py",
    "webhooks/test_turns.py",
    "wire/test_texts_that_take_long.py",
}
# The files that wait for most of their time, longest first: for timeouts, for processes that start,
# for nodes that learn of something. Others use the CPU meanwhile (`support/lanes.py`).
WAITING_FILES = (
    "nodes/test_chaos.py",
    "crash/test_chaos.py",
    "nodes/test_idle.py",
    "nodes/test_balancer.py",
    "nodes/test_bundles_on_s3.py",
    "publishing/test_uploads_under_load.py",
    "nodes/test_other_users.py",
    "crash/test_held_lock.py",
    "wire/test_unread_responses.py",
    "crash/test_damage.py",
    "nodes/test_outages.py",
    "nodes/test_following.py",
    "nodes/test_unlike_nodes.py",
    "wire/test_slow_clients.py",
    "wire/test_texts_that_take_long.py",
    "nodes/test_poolers.py",
    "nodes/test_slow_parts.py",
    "nodes/test_starting.py",
    "nodes/test_read_only_server.py",
    "nodes/test_secrets.py",
    "wire/test_compressed_bundles.py",
)
# Of the others, the files that take longest, longest first.
LONGEST_FILES = (
    "app/test_without_a_room.py",
    "nodes/test_api_on_postgresql.py",
    "wire/test_openapi_contract.py",
    "accounts/oidc/test_sign_in.py",
    "pages/test_preview_in_browser.py",
    "transfer/test_import_kill.py",
    "app/test_hostile_requests.py",
    "browser/test_accessibility.py",
    "app/test_command_output.py",
    "accounts/test_locked_account.py",
    "accounts/second_factor/test_second_factor_in_browser.py",
    "tool/test_npm_templates.py",
    "tool/test_npm_packages.py",
    "tool/test_ci.py",
    "tool/test_vite_plugin.py",
    "browser/test_managing.py",
    "client/test_types.py",
    "publishing/test_publish_kill.py",
    "accounts/test_sign_in_in_browser.py",
    "publishing/test_parallel_publishes.py",
    "demo/test_demo_widgets_in_browser.py",
    "app/test_every_field_survives_copies.py",
    "accounts/oidc/test_second_factor.py",
    "accounts/test_account_commands.py",
    "backup/test_backup_kill.py",
    "tool/test_end_to_end.py",
    "browser/test_hostile_texts.py",
    "docs/test_samples_in_browser.py",
    "backup/test_backup_commands.py",
    "core/files/test_contract.py",
    "transfer/test_import_of_many.py",
    "catalog/search/test_search_against_oracle.py",
    "catalog/reading/test_remembered_responses.py",
)
_ORDER = {name: place for place, name in enumerate((*WAITING_FILES, *LONGEST_FILES))}


def start_order(item: pytest.Item, slow_files: set[Path]) -> int:
    """Short files last: while one process still has a long one, the others have nothing to do."""
    place = _ORDER.get(_name_of(item.path))
    return len(_ORDER) + (item.path not in slow_files) if place is None else place


@functools.cache
def _name_of(path: Path) -> str:
    return str(path.relative_to(_TESTS))


def is_slow(item: pytest.Item) -> bool:
    if _name_of(item.path) in LONG_FILES or item.get_closest_marker("slow"):
        return True
    if not isinstance(item, pytest.Function):
        return False
    given = item.callspec.params.values() if hasattr(item, "callspec") else ()
    functions = [it for it in given if isinstance(it, FunctionType)]
    return _is_any_slow(item) or any(map(_starts_processes, functions))


_checked: dict[tuple[int, Any], bool] = {}


def _is_any_slow(item: pytest.Function) -> bool:
    """Whether the test or a fixture is. All cases of a test have the same ones."""
    definitions = item._fixtureinfo.name2fixturedefs
    key = (id(definitions), item.function)
    if key not in _checked:
        fixtures = [it.func for name in item.fixturenames for it in definitions.get(name, ())[-1:]]
        _checked[key] = any(map(_starts_processes, (item.function, *fixtures)))
    return _checked[key]


@functools.cache
def _starts_processes(thing: Any) -> bool:
    seen: set[Any] = set()
    waiting = [thing]
    while waiting:
        for used in _used_by(waiting.pop()):
            if _is_starter(used):
                return True
            if used not in seen:
                seen.add(used)
                waiting.append(used)
    return False


@functools.cache
def _used_by(thing: Any) -> tuple[Any, ...]:
    """The functions and classes of tests that are named in its code, and what starts processes."""
    if inspect.isclass(thing):
        members = [*vars(thing).values(), *thing.__bases__]
        return tuple(filter(_is_ours, map(_function_of, members)))
    function = _function_of(thing)
    if not isinstance(function, FunctionType):
        return ()
    names = {name for code in _all_code(function.__code__) for name in code.co_names}
    named = [function.__globals__[name] for name in names if name in function.__globals__]
    return tuple(it for it in map(_function_of, named) if _is_starter(it) or _is_ours(it))


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


def _is_starter(thing: Any) -> bool:
    return thing is subprocess or thing is sync_playwright


def _is_ours(thing: Any) -> bool:
    if not (inspect.isclass(thing) or isinstance(thing, FunctionType)):
        return False
    module = sys.modules.get(thing.__module__)
    return str(getattr(module, "__file__", "")).startswith(str(_TESTS))
