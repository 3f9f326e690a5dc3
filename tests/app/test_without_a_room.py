"""Optional rooms can be taken away: without its folder and its line in the list of features, the
service runs, its tests of everything else pass, and nothing of the room is there.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import clean_environment

ROOT = Path(__file__).parents[2]
# Of each room: a command, a setting, a table, a path and a public path, if it has them.
ROOMS = {
    "webhooks": ("webhook", "webhook_http", "webhooks", "/api/webhooks", None),
    "mirror": ("mirror", "mirror_networks", "mirrors", None, None),
    "backup": ("backup", None, None, None, None),
    "static_site": ("site", None, None, None, None),
    "moderation": ("scope", "max_reports", "reports", "/operate/reports", None),
    "collections": (
        "collection",
        None,
        "collections",
        "/operate/collections",
        "/collections/{slug}",
    ),
    "brand": (None, None, "legal_pages", "/operate/brand", "/legal/{slug}"),
    "install": (None, "tool_dependencies", None, "/install", None),
}
ROOMS = {it: own for it, own in ROOMS.items() if (ROOT / "src" / "widget_catalog" / it).exists()}
# How addresses of its public pages begin, which nothing else in the source names.
PUBLIC = {"collections": "/collections", "brand": "/legal/"}
_ORGANIZATIONS = "tests/organizations/test_organizations_api.py"
_WIDGET_PAGE = "tests/pages/test_widget_page.py"
# What the product is without any of them.
CORE_SUITE = (
    "tests/catalog/api/test_detail.py",
    "tests/publishing/test_publish.py",
    "tests/publishing/test_own_widgets_pages.py",
    "tests/catalog/api/test_search.py",
    "tests/accounts/test_sessions.py",
    _ORGANIZATIONS,
    f"{_WIDGET_PAGE}::test_the_page_tells_what_matters",
    f"{_WIDGET_PAGE}::test_a_scope_shows_its_widgets_and_its_registry",
)
# Of each of its parts, tests that go through all layers: they run once per room. Rooms do not
# import one another, which lint checks, so what else could break breaks without all of them.
CORE_SAMPLE = (
    "tests/catalog/api/test_detail.py::test_detail_shows_the_widget_and_all_its_versions",
    "tests/publishing/test_publish.py::test_three_steps_publish_a_version_at_once",
    "tests/publishing/test_publish.py::test_a_check_passes_every_gate_and_keeps_nothing",
    "tests/publishing/test_own_widgets_pages.py::test_widgets_of_all_scopes_are_shown_and_of_one",
    "tests/publishing/test_own_widgets_pages.py::test_a_version_is_yanked_and_offered_again",
    "tests/catalog/api/test_search_order.py::test_the_five_ranks_come_before_downloads",
    "tests/accounts/test_sessions.py::test_sessions_are_listed_and_can_be_ended_one_by_one",
    f"{_ORGANIZATIONS}::test_anyone_who_makes_an_organization_owns_it_and_may_publish_in_it",
    f"{_WIDGET_PAGE}::test_the_page_tells_what_matters",
    f"{_WIDGET_PAGE}::test_a_scope_shows_its_widgets_and_its_registry",
)
# For each line on standard input: prints what is there to a file, in five lines, and runs tests, in
# a fork. Other people's packages are the same without a room, and loading them takes longer than
# these tests.
_FACTS_AND_TESTS = """
import json, os, sqlite3, sys
from pathlib import Path
import alembic, argon2, granian, httpx, hypothesis, jinja2, markdown_it, numpy, playwright.sync_api
import pytest, rich.console, sqlalchemy.dialects.sqlite, sqlalchemy.orm, structlog, typer

def run(source, output, tests):
    sys.path.insert(0, source)
    os.dup2(os.open(output, os.O_CREAT | os.O_WRONLY), 1)
    os.dup2(1, 2)
    from support.folders import empty_folder
    from support.site import open_public_pages
    from widget_catalog.app.features import install_features
    from widget_catalog.app.main import app
    from widget_catalog.app.worker import list_routes
    from widget_catalog.core.settings import list_settings

    install_features()
    data = empty_folder(Path(source).parent / "data")
    print(*typer.main.get_command(app).commands)
    print(*(it.name for members in list_settings().values() for it in members))
    tables = sqlite3.connect(data / "catalog.db")
    print(*(name for (name,) in tables.execute("SELECT name FROM sqlite_master")))
    print(*{it.path for it in list_routes().all})
    print(*{it.path for it in open_public_pages(data).routes.all}, flush=True)
    return pytest.main(tests)

for line in sys.stdin:
    if pid := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    else:
        sys.exit(run(*json.loads(line)))
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", _FACTS_AND_TESTS],
        cwd=ROOT,
        env=clean_environment() | {"PYTHONPATH": str(ROOT / "tests")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        process.communicate(timeout=60)


@pytest.mark.parametrize("room", ROOMS)
def test_without_a_room_nothing_of_it_is_there_and_the_rest_works(
    room: str, runner: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert_absent([room], run_without(runner, [room], tmp_path, *CORE_SAMPLE))


def test_without_all_of_them_the_core_suite_passes(
    runner: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert_absent(list(ROOMS), run_without(runner, list(ROOMS), tmp_path, *CORE_SUITE))


def run_without(
    runner: subprocess.Popen[str], rooms: list[str], folder: Path, *tests: str
) -> list[set[str]]:
    """Run these tests with a copy of the source without these rooms. Returns the names of all
    commands, settings, tables, paths and public paths.
    """
    source, output = folder / "src", folder / "output"
    # With its bytecode, which is valid for the copies: compiling all of it takes seconds.
    shutil.copytree(ROOT / "src", source)
    features = source / "widget_catalog" / "app" / "features.py"
    for room in rooms:
        shutil.rmtree(source / "widget_catalog" / room)
        text, lines = re.subn(rf'(?m)^    "{room}",\n', "", features.read_text())
        assert lines == 1
        features.write_text(text)
    assert_unmentioned([PUBLIC[it] for it in rooms if it in PUBLIC], source / "widget_catalog")
    # With a folder of its own: it would remove what this run has in the usual one.
    apart = ("--basetemp", str(folder / "tests"), "-p", "no:cacheprovider", "-p", "no:xdist")
    loaded = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    options = ("-q", "-x", *apart, *loaded, "-m", "not slow")
    assert runner.stdin is not None
    assert runner.stdout is not None
    print(json.dumps([str(source), str(output), [*options, *tests]]), file=runner.stdin, flush=True)
    code = runner.stdout.readline()
    shutil.rmtree(source)
    said = output.read_text()
    assert code == "0\n", said[-8000:]
    assert re.search(r"\d{2,} passed", said), said
    return [set(line.split()) for line in said.splitlines()[:5]]


def assert_absent(rooms: list[str], there: list[set[str]]) -> None:
    for room in rooms:
        for own, all_ in zip(ROOMS[room], there, strict=True):
            assert own not in all_
            assert all_


def assert_unmentioned(addresses: list[str], source: Path) -> None:
    files = [it for it in source.rglob("*") if it.suffix in (".py", ".html", ".xml", ".js", ".css")]
    assert files
    for file in files:
        text = file.read_text()
        assert not [it for it in addresses if it in text], file
