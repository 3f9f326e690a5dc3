"""Nodes of two releases share a database during an upgrade, and after going back."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.db.next_migration import NEXT, add_next_step
from support.commands import widget_catalog
from support.nodes import RunningNode, Traveller, environment_of
from support.preloaded import run_module
from support.service import Service, clean_environment, wait_for
from widget_catalog.core.db.migrate import SCHEMA

TESTS = str(Path(__file__).parents[1])
CLOCK = "/api/v1/widgets/ann/clock"
CONTRACT = """

def contract() -> None:
    op.drop_column("widgets", "colour")
"""


@pytest.fixture
def later(tmp_path: Path) -> tuple[str, ...]:
    """How to run a later release, whose migration this one can live with."""
    step = add_next_step(tmp_path / "migrations")
    step.write_text(f"oldest_writer = {SCHEMA!r}\n{step.read_text()}{CONTRACT}")
    return ("core.db.later_release", str(tmp_path / "migrations"))


class Load:
    """Counts downloads and publishes versions at all nodes in turn, and keeps what fails."""

    def __init__(self, ann: Traveller, nodes: list[RunningNode]) -> None:
        self.failures: list[str] = []
        self.writes = 0
        self._ann = ann
        self._nodes = nodes
        self._ended = threading.Event()

    def _run(self) -> None:
        number = 0
        while not self._ended.is_set():
            for node in self._nodes:
                number += 1
                version = f"1.0.{number}"
                published = self._ann.publish("ann/clock", version, version.encode(), node)
                for response in (published, node.client.post(CLOCK)):
                    self.writes += 1
                    if response.status_code != 200:
                        self.failures.append(f"{response.status_code} {response.text}")

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()


def test_an_upgrade_and_the_way_back_fail_no_write(
    nodes: list[RunningNode], ann: Traveller, database: str, tmp_path: Path, later: tuple[str, ...]
) -> None:
    environment = environment_of(database) | {"PYTHONPATH": TESTS}
    assert ann.publish("ann/clock", "1.0.0", b"first", nodes[0]).status_code == 200
    load = Load(ann, nodes)
    folder = tmp_path / "later"
    folder.mkdir()
    for name in ("bundles", "uploads"):
        (folder / name).symlink_to((nodes[0].service.data / name).resolve())

    with load.running():
        # Forwards: a node of the next release expands, and both releases write.
        upgraded = Service(folder, environment=environment, module=later)
        try:
            with upgraded.client() as client:
                assert client.post(CLOCK).status_code == 200
            plan = _later(later, "migrate", "--plan", environment=environment)
            assert f"The database has the schema {NEXT}, this release {NEXT}." in plan
            assert f"Releases from schema {SCHEMA} on can write to it." in plan
        finally:
            upgraded.stop()
        # Back: a node of this release starts with the expanded database.
        with_this = tmp_path / "this"
        with_this.mkdir()
        restarted = Service(with_this, environment=environment)
        try:
            with restarted.client() as client:
                assert client.post(CLOCK).status_code == 200
                assert client.get("/healthz/ready").text == "ok\n"
        finally:
            restarted.stop()
        writes = load.writes
        wait_for(lambda: load.writes > writes + 10)

    assert load.failures == []
    assert "migrated by a newer release" not in nodes[0].service.log

    # Contracted, only the next release writes.
    said = _later(later, "migrate", "--contract", environment=environment)
    assert f"Releases before schema {NEXT} cannot write to it." in said
    wait_for(lambda: all(it.client.post(CLOCK).status_code == 503 for it in nodes))
    assert all(it.client.get(CLOCK).status_code == 200 for it in nodes)
    refused = widget_catalog("migrate", "--plan", environment=environment)
    assert refused.code == 1
    assert "made by a newer release" in refused.err


def _later(later: tuple[str, ...], *arguments: str, environment: dict[str, str]) -> str:
    done = run_module(*later, *arguments, environ=clean_environment(environment))
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()
