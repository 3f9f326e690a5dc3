"""Optional rooms can be taken away: without its folder and its line in the list of features, the
service runs, its tests of everything else pass, and nothing of the room is there.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import clean_environment

ROOT = Path(__file__).parents[2]
# Of each room: a command, a setting, a table and a path, if it has them.
ROOMS = {
    "webhooks": ("webhook", "max_webhooks", "webhooks", "/api/webhooks"),
    "mirror": ("mirror", "mirror_networks", "mirrors", None),
    "snapshot": ("snapshot", None, "loaded_snapshots", None),
    "backup": ("backup", None, None, None),
    "static_site": ("site", None, None, None),
    "moderation": ("scope", "max_reports", "reports", "/operate/reports"),
}
# What the product is without any of them.
CORE_SUITE = (
    "tests/catalog/api/test_search.py",
    "tests/catalog/api/test_detail.py",
    "tests/accounts/test_sessions.py",
    "tests/organizations/test_organizations_api.py",
    "tests/publishing/test_publish.py",
    "tests/publishing/test_own_widgets_pages.py",
)
_FACTS = """
import sqlite3, sys
from pathlib import Path
from widget_catalog.app.features import install_features
from widget_catalog.app.main import app
from widget_catalog.app.worker import list_routes
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.settings import list_settings
import typer

install_features()
prepare_node(Path(sys.argv[1])).store.close()
print(*typer.main.get_command(app).commands)
print(*(it.name for members in list_settings().values() for it in members))
tables = sqlite3.connect(Path(sys.argv[1]) / "catalog.db")
print(*(name for (name,) in tables.execute("SELECT name FROM sqlite_master")))
print(*{it.path for it in list_routes().all})
"""


@pytest.fixture(params=ROOMS, scope="module")
def without(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """The name of a room, and the source without it."""
    room: str = request.param
    source = tmp_path_factory.mktemp(room) / "src"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", source, ignore=ignored)
    shutil.rmtree(source / "widget_catalog" / room)
    features = source / "widget_catalog" / "app" / "features.py"
    text, lines = re.subn(rf"(?m)^.*\b{room.upper()},?\n", "", features.read_text())
    assert lines == 2  # Its import, and its place in the list.
    features.write_text(text)
    yield room, source
    shutil.rmtree(source)


def run(source: Path, *arguments: str) -> str:
    environment = clean_environment() | {"PYTHONPATH": f"{source}:{ROOT / 'tests'}"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_nothing_of_it_is_there(without: tuple[str, Path], tmp_path: Path) -> None:
    room, source = without
    there = [
        set(line.split()) for line in run(source, "-c", _FACTS, str(tmp_path / "data")).splitlines()
    ]

    for own, all_ in zip(ROOMS[room], there, strict=True):
        assert own not in all_
        assert all_


def test_the_core_suite_passes(without: tuple[str, Path], tmp_path: Path) -> None:
    _, source = without
    # With a folder of its own: it would remove what this run has in the usual one.
    apart = ("--basetemp", str(tmp_path / "tests"), "-p", "no:cacheprovider")
    command = ("-m", "pytest", "-q", "-x", "-p", "no:xdist", *apart, "-m", "not slow")
    said = run(source, *command, *CORE_SUITE)

    assert re.search(r"\d{2,} passed", said), said
