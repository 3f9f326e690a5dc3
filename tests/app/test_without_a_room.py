"""Optional rooms can be taken away: without its folder and its line in the list of features, the
service runs, its tests of everything else pass, and nothing of the room is there.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.service import clean_environment

pytestmark = pytest.mark.slow

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
# Prints what is there, in five lines, and runs tests.
_FACTS_AND_TESTS = """
import sqlite3, sys
from pathlib import Path

source, *tests = sys.argv[1:]
sys.path[:0] = [source, "tests"]
import pytest, typer
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
sys.exit(pytest.main(tests))
"""


# Rooms do not import one another, which lint checks: what breaks without one breaks without all,
# or because the others are there, as in the second case.
@pytest.mark.parametrize("rooms", [[*ROOMS], [*ROOMS.keys() & {"collections"}]], ids=["all", "one"])
def test_without_rooms_nothing_of_them_is_there_and_the_core_suite_passes(
    rooms: list[str], tmp_path: Path
) -> None:
    there = run_without(rooms, tmp_path)

    for room in rooms:
        for own, all_ in zip(ROOMS[room], there, strict=True):
            assert own not in all_
            assert all_


def run_without(rooms: list[str], folder: Path) -> list[set[str]]:
    """Run the core suite with a copy of the source without these rooms. Returns the names of all
    commands, settings, tables, paths and public paths.
    """
    source = folder / "src"
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
    done = subprocess.run(
        [sys.executable, "-c", _FACTS_AND_TESTS, source, *options, *CORE_SUITE],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"\d{2,} passed", done.stdout), done.stdout
    return [set(line.split()) for line in done.stdout.splitlines()[:5]]


def assert_unmentioned(addresses: list[str], source: Path) -> None:
    files = [it for it in source.rglob("*") if it.suffix in (".py", ".html", ".xml", ".js", ".css")]
    assert files
    for file in files:
        text = file.read_text()
        assert not [it for it in addresses if it in text], file
