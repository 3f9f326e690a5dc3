"""Several workers are one catalog: what one has written, each shows on its next request."""

import itertools
import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from support.folders import filled_folder
from support.service import Service, run_command, running_service
from support.widgets import import_widgets, ndjson, version_line, widget_line
from support.wire import WireConnection, connections_to_every_worker
from widget_catalog.catalog.node.node import open_node

pytestmark = pytest.mark.slow

_CLOCK = "/api/v1/widgets/acme/clock"
_SEARCH = "/api/v1/widgets/search?limit=100"
_REGISTRY = "/api/widgets/acme/registry.json"
_STATS = "/api/stats"


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    keys = ("acme/clock", "acme/bell", "acme/lamp")
    data = filled_folder(
        tmp_path_factory.mktemp("workers") / "data", *[widget_line(key) for key in keys]
    )
    with running_service(data, "--workers", "2") as service:
        yield service


def test_a_count_is_shown_by_every_worker_on_its_next_request(two_workers: Service) -> None:
    choose = random.Random(1)
    with connections_to_every_worker(two_workers, each=2) as found:
        assert len(found) == 2
        every = [connection for held in found.values() for connection in held]
        counted = _count(every[0], _CLOCK)
        for turn in range(1_000):
            assert choose.choice(every).ask("POST", _CLOCK).status == 200
            counted += 1
            assert [_count(it, _CLOCK) for it in every] == [counted] * len(every)
            if turn % 50 == 0:
                for connection in every:
                    results = _json(connection, _SEARCH)["widgets"]
                    shown = {it["name"]: it["downloadCount"] for it in results}
                    assert shown["clock"] == counted
                    assert _json(connection, _STATS)["downloads"] == sum(shown.values())


def test_no_worker_is_behind_what_was_acknowledged_while_all_are_written_to(
    two_workers: Service,
) -> None:
    """After each count, every writer reads from another worker."""
    path = "/api/v1/widgets/acme/bell"
    acknowledged = itertools.count(1)
    total = 0
    lock = threading.Lock()
    errors: list[str] = []

    def write(writes_to: WireConnection, reads_from: WireConnection) -> None:
        nonlocal total
        for _ in range(300):
            assert writes_to.ask("POST", path).status == 200
            with lock:
                total = at_least = next(acknowledged)
            if (shown := _count(reads_from, path)) < at_least:
                errors.append(f"{shown} is shown after {at_least} were acknowledged")

    with connections_to_every_worker(two_workers, each=4) as found:
        first, second = found.values()
        pairs = [*zip(first[:2], second[:2], strict=True), *zip(second[2:], first[2:], strict=True)]
        threads = [threading.Thread(target=write, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        assert total == 4 * 300
        for connection in (first[0], second[0]):
            assert _count(connection, path) == total


@pytest.mark.parametrize("first", range(5))
def test_an_import_by_another_process_is_shown_by_every_worker_on_its_next_request(
    two_workers: Service, tmp_path: Path, first: int
) -> None:
    """Whichever URL is requested first after the import, it is up to date."""
    before: dict[str, Any] = {}
    with connections_to_every_worker(two_workers) as found:
        for held in found.values():
            # Each has served all of it before, and may have cached it.
            for address in (_CLOCK, _SEARCH, _REGISTRY, "/api/v1/widgets/search?q=clock"):
                _json(held[0], address)
            before = _json(held[0], _STATS)
    added = _Added(before)
    file = tmp_path / "more.ndjson"
    file.write_bytes(ndjson(*added.lines()))

    imported = run_command("import", str(file), "--data", str(two_workers.data))

    assert imported.returncode == 0, imported.stderr
    with connections_to_every_worker(two_workers) as found:
        for held in found.values():
            added.assert_shown(held[0], first)


def test_many_imports_are_each_shown_at_once(two_workers: Service) -> None:
    node = open_node(two_workers.data)
    with connections_to_every_worker(two_workers) as found:
        every = [held[0] for held in found.values()]
        for turn in range(60):
            added = _Added(_json(every[turn % 2], _STATS))
            import_widgets(node, *added.lines())
            for connection in every:
                added.assert_shown(connection, first=turn % 5)
    node.store.close()


class _Added:
    """A new widget and a new version of an existing one, and all URLs that show them."""

    def __init__(self, before: dict[str, Any]) -> None:
        self._before = before
        self._name = f"new{before['widgets']}"
        self._number = f"1.{before['versions']}.0"

    def lines(self) -> list[dict[str, Any]]:
        later = f"2026-02-01T00:00:00.{self._before['versions']:03}Z"
        version = version_line(self._number, publishedAt=later)
        return [
            widget_line(f"acme/{self._name}", downloadCount=1),
            widget_line("acme/clock", versions=[version]),
        ]

    def assert_shown(self, connection: WireConnection, first: int) -> None:
        looks = [
            self._new_detail,
            self._known_detail,
            self._search,
            self._registry,
            self._stats,
        ]
        for look in looks[first:] + looks[:first]:
            look(connection)

    def _new_detail(self, connection: WireConnection) -> None:
        detail = _json(connection, f"/api/v1/widgets/acme/{self._name}")
        assert (detail["latestVersion"], detail["widget"]["downloadCount"]) == ("1.0.0", 1)

    def _known_detail(self, connection: WireConnection) -> None:
        assert _json(connection, _CLOCK)["latestVersion"] == self._number

    def _search(self, connection: WireConnection) -> None:
        found = _json(connection, f"/api/v1/widgets/search?q={self._name}")
        assert [it["name"] for it in found["widgets"]] == [self._name]
        found = _json(connection, "/api/v1/widgets/search?q=clock")
        assert found["widgets"][0]["latestVersion"]["version"] == self._number

    def _registry(self, connection: WireConnection) -> None:
        listed = _json(connection, _REGISTRY)["widgets"]
        latest = {it["name"]: it["latestVersion"] for it in listed}
        assert (latest[self._name], latest["clock"]) == ("1.0.0", self._number)

    def _stats(self, connection: WireConnection) -> None:
        stats = _json(connection, _STATS)
        assert stats["widgets"] == self._before["widgets"] + 1
        assert stats["versions"] == self._before["versions"] + 2
        assert stats["downloads"] == self._before["downloads"] + 1


def _json(connection: WireConnection, address: str) -> Any:
    response = connection.ask("GET", address)
    assert response.status == 200, response
    return json.loads(response.body)


def _count(connection: WireConnection, address: str) -> int:
    return int(_json(connection, address)["widget"]["downloadCount"])
