"""Fixtures shared by all tests. All of them use the real code."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import structlog
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser

from support.bounded_processes import shared_bounded_processes
from support.chromium import NO_CHROMIUM, SharedBrowser, find_chromium, running_browser
from support.cpu_times import CpuTimes
from support.folders import empty_folder
from support.passwords import quick_passwords
from support.postgresql import start_postgresql
from support.run_folder import use_run_folder
from support.service import Service, running_service
from support.site import InProcessSite
from widget_catalog.app.features import install_features
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.pages import store_reads

pytest_plugins = ["support.browser_fixtures", "support.site_fixtures", "support.store_fixtures"]

# A third of the usual number of examples: runs are frequent. Many: --hypothesis-profile long.
for _profile, _examples in (("catalog", 33), ("long", 1_000)):
    settings.register_profile(
        _profile,
        deadline=None,
        max_examples=_examples,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
settings.load_profile("catalog")

install_features()
# On a busy machine, a page of a site in this process may have to wait longer for the store.
store_reads.WAIT_S = 10.0

_TESTS = Path(__file__).parent
# Tests in these folders, in files with these names, and those with these fixtures start processes:
# they are slow. Others that are have the mark themselves.
_SLOW_FOLDERS = {"browser", "crash", "dev", "nodes", "wire"}
_SLOW_NAMES = ("_commands", "_in_browser", "_kill")
_SLOW_FIXTURES = {"browser", "postgresql_url", "provider", "service", "tool"}

# npm, TypeScript and Playwright are large: compiling them takes a quarter of their CPU time.
_COMPILED = Path(__file__).parents[1] / ".cache" / "node"
os.environ.setdefault("NODE_COMPILE_CACHE", str(_COMPILED))

# Plain tracebacks, as in the service's log: those with the values of variables take 0.3 s each.
_PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], _PLAIN])


class FailuresAtOnce:
    """Prints a failure when it happens: a run that is cut off has no summary."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\n{report.nodeid} failed ({report.when}):", red=True)
            terminal.write_line(report.longreprtext[-3000:])


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("durations"):
        config.pluginmanager.register(CpuTimes())
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailuresAtOnce(config))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What is loaded for collection stays: it is not looked at again for garbage, which would take
    a tenth of the time of all tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and start the slow files first: while one process still has a long one,
    the others have nothing to do. Their order mixes those that wait with those that use the CPU.
    """
    for item in items:
        names = item.fixturenames if isinstance(item, pytest.Function) else ()
        is_slow = item.path.stem.endswith(_SLOW_NAMES)
        is_slow |= item.path.relative_to(_TESTS).parts[0] in _SLOW_FOLDERS
        if is_slow or _SLOW_FIXTURES & {*names}:
            item.add_marker("slow")
    slow_files = {it.path for it in items if it.get_closest_marker("slow")}
    items.sort(key=lambda it: (it.path not in slow_files, crc32(it.path.name.encode()), it.path))


@pytest.fixture(scope="module", autouse=True)
def passwords_are_quick() -> Iterator[None]:
    """Passwords hashed in this process. `tests/core/test_credentials.py` checks the real cost."""
    with quick_passwords():
        yield


@pytest.fixture(scope="session", autouse=True)
def costs_are_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What most tests would do again for a site of their own."""
    use_run_folder(_folder_of_the_run(tmp_path_factory))
    with shared_bounded_processes():
        yield


@pytest.fixture
def base_folder(tmp_path: Path) -> Path:
    """The folder of an imported file."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A data folder opened without a server."""
    made = open_node(empty_folder(tmp_path / "data"), is_durable=False)
    yield made
    made.store.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[InProcessSite]:
    """The whole site without a socket, on an empty folder."""
    with InProcessSite(tmp_path / "data") as made:
        yield made


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """`widget-catalog serve` in its own process, on an empty folder and a free port."""
    with running_service(empty_folder(tmp_path / "data")) as made:
        yield made


@pytest.fixture(scope="session")
def postgresql_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL: the one in DATABASE_URL, or one started for this run."""
    if given := os.environ.get("DATABASE_URL"):
        yield given
        return
    # All workers share one server; the last one stops it.
    with start_postgresql(_folder_of_the_run(tmp_path_factory) / "postgresql") as url:
        yield url


def _folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def shared_browser() -> Iterator[SharedBrowser]:
    program = find_chromium()
    if program is None:
        pytest.fail(NO_CHROMIUM)
    with running_browser(program) as launched:
        shared = SharedBrowser(launched)
        yield shared
        shared.resume()


@pytest.fixture(scope="module")
def browser(shared_browser: SharedBrowser) -> Iterator[Browser]:
    """A real Chromium: the one in $CHROMIUM, or the system's. What a module opens in it is closed
    when the module ends.
    """
    with shared_browser.in_use() as launched:
        yield launched
