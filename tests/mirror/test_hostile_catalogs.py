"""Malicious or failing upstreams: nothing wrong is stored, and every error is reported."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mirror.mirrors import (
    Passed,
    Tampering,
    a_mirror,
    assert_bundles_are_whole,
    exported,
    tampering_server,
)
from support.service import Service
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.widgets import get_widget
from widget_catalog.core.actors import COMMAND_LINE as OPERATOR
from widget_catalog.mirror import mirroring
from widget_catalog.publishing.change_widget import deprecate_version, undeprecate_version
from widget_catalog_client import CatalogUnavailable, ClientError
from widget_contract.names import Scope, WidgetName

Change = Callable[[Any], None]
_VERSION = "/api/v1/widgets/acme/clock/2.0.0"
_BUNDLE = "/cdn/@acme/clock/2.0.0/index.js"
_REVOCATIONS = "/api/v1/widgets/revocations"
_REGISTRY = "/api/widgets/acme/registry.json"


@pytest.fixture
def between(service: Service) -> Iterator[Tampering]:
    with tampering_server(service.url) as made:
        yield made


def changed(path: str, change: Change) -> Callable[[str, Passed], Passed]:
    """The response at this path, with modified JSON."""

    def tamper(asked: str, passed: Passed) -> Passed:
        if asked.partition("?")[0] != path:
            return passed
        document = json.loads(passed.body)
        change(document)
        return passed._replace(body=json.dumps(document).encode())

    return tamper


def file(document: Any, index: int, **fields: Any) -> None:
    document["files"][index].update(fields)


def entry(document: Any, **fields: Any) -> None:
    """The entry of acme/clock in a registry."""
    (clock,) = [it for it in document["widgets"] if it["name"] == "clock"]
    clock["versions"][0].update(fields)


@pytest.mark.parametrize(
    ("path", "change", "says"),
    [
        (_VERSION, lambda it: file(it, 0, sha256Hash="0" * 64), "two hashes or sizes are stated"),
        (_VERSION, lambda it: file(it, 0, size=3), "two hashes or sizes are stated"),
        (_VERSION, lambda it: file(it, 1, sha256Hash="0" * 64), "has the SHA-256"),
        (_VERSION, lambda it: file(it, 1, sha256Hash="../../x"), "is said to have the SHA-256"),
        (_VERSION, lambda it: file(it, 1, size=3), "has more than the 3 bytes stated"),
        (_VERSION, lambda it: file(it, 1, size=1 << 40), "max_bundle_bytes allows"),
        (_VERSION, lambda it: it.pop("files"), "not what a catalog sends"),
        (_REGISTRY, lambda it: entry(it, publishedAt="2999-01-01T00:00:00.000Z"), "in the future"),
        (_REGISTRY, lambda it: entry(it, version="two"), "two"),
        (_REGISTRY, lambda it: entry(it, sdkVersion=""), None),
        (_REGISTRY, lambda it: entry(it, minSize={"w": -1, "h": 0}), "minSize"),
        (_REGISTRY, lambda it: entry(it, description="x" * 65_537), "at most 65,536 characters"),
    ],
)
def test_a_lie_about_one_widget_is_named_and_the_others_are_copied(
    tmp_path: Path, origin: Node, between: Tampering, path: str, change: Change, says: str | None
) -> None:
    between.tamper = changed(path, change)
    with a_mirror(tmp_path / "data", between.url) as copying:
        done = copying.mirroring.run()
        if says is None:
            assert done.errors == []
            return
        (error,) = done.errors
        assert error.startswith("acme/clock: ")
        assert re.search(re.escape(says), error), error
        expected = exported(origin)
        del expected["acme/clock"]
        assert exported(copying.node) == expected
        assert_bundles_are_whole(copying.node)
        between.tamper = lambda _path, passed: passed
        assert copying.mirroring.run().errors == []  # It is retried.
        assert exported(copying.node) == exported(origin)


def revoke(document: Any, at: str) -> None:
    document["revocations"].append(
        {"id": "acme/clock", "version": "2.0.0", "sha256Hash": "0" * 64, "at": at,
         "reason": "\x1b[31m\0" + "x" * 5000}
    )  # fmt: skip


def test_a_version_that_is_revoked_in_a_strange_way_is_revoked_all_the_same(
    tmp_path: Path, origin: Node, between: Tampering
) -> None:
    between.tamper = changed(_REVOCATIONS, lambda it: revoke(it, at="2026-01-31T09:05:00"))
    with a_mirror(tmp_path / "data", between.url) as copying:
        assert copying.mirroring.run().errors == []
        with copying.node.store.reading() as connection:
            clock = get_widget(connection, Scope("acme"), WidgetName("clock")).widget
        (found,) = [it.revocation for it in clock.versions if it.number == "2.0.0"]
        assert found is not None
        assert found.revoked_at == datetime(2026, 1, 31, 9, 5, tzinfo=UTC)
        assert found.reason.isprintable()
        assert len(found.reason) == 500


def test_a_revocation_at_no_time_is_named_and_the_other_widgets_are_copied(
    tmp_path: Path, origin: Node, between: Tampering
) -> None:
    at = "0001-01-01T00:00:00+14:00"  # Before the year 1 in UTC.
    between.tamper = changed(_REVOCATIONS, lambda it: revoke(it, at=at))
    with a_mirror(tmp_path / "data", between.url) as copying:
        (error,) = copying.mirroring.run().errors
        assert error.startswith("acme/clock: 2.0.0 is said to be revoked at")
        assert exported(copying.node).keys() == exported(origin).keys() - {"acme/clock"}


@pytest.mark.parametrize("piece", [b"export function mount() { return 'evil!' }\n", b"x" * 65536])
def test_bytes_that_are_not_those_stated_are_not_stored(
    tmp_path: Path, origin: Node, between: Tampering, piece: bytes
) -> None:
    """Other bytes of the same size, and an endless body."""

    def tamper(path: str, passed: Passed) -> Passed | Iterator[bytes]:
        if path != _BUNDLE:
            return passed
        return itertools.repeat(piece) if len(piece) > 1000 else passed._replace(body=piece)

    between.tamper = tamper
    with a_mirror(tmp_path / "data", between.url) as copying:
        (error,) = copying.mirroring.run().errors
        assert error.startswith(f"acme/clock: {between.url}{_BUNDLE} has ")
        assert "acme/clock" not in exported(copying.node)
        assert_bundles_are_whole(copying.node)


def half_of(*paths: str) -> Callable[[str, Passed], Passed]:
    """The responses at these paths are truncated."""

    def half(asked: str, passed: Passed) -> Passed:
        if asked.partition("?")[0] not in paths:
            return passed
        whole = {"content-length": str(len(passed.body))}
        return Passed(200, whole, passed.body[: len(passed.body) // 2])

    return half


@pytest.mark.parametrize("path", [_REGISTRY, "/api/v1/widgets/revocations"])
def test_a_catalog_that_dies_half_way_is_tried_again(
    tmp_path: Path, origin: Node, between: Tampering, path: str
) -> None:
    between.tamper = half_of(path)
    with a_mirror(tmp_path / "data", between.url) as copying:
        copying.mirroring._catalog._http.timeout = 1  # Such a server keeps its connection open.
        with pytest.raises(CatalogUnavailable):
            copying.mirroring.run()
        assert "acme/clock" not in exported(copying.node)
        between.tamper = lambda _path, passed: passed
        assert copying.mirroring.run().errors == []
        assert exported(copying.node) == exported(origin)


@pytest.mark.parametrize("path", [_VERSION, _BUNDLE])
def test_a_widget_that_cannot_be_fetched_holds_up_no_other(
    tmp_path: Path, origin: Node, between: Tampering, path: str
) -> None:
    between.tamper = half_of(path)
    with a_mirror(tmp_path / "data", between.url) as copying:
        copying.mirroring._catalog._http.timeout = 1
        (error,) = copying.mirroring.run().errors
        assert error.startswith(f"acme/clock: {between.url}{path} ")
        expected = exported(origin)
        del expected["acme/clock"]
        assert exported(copying.node) == expected
        between.tamper = lambda _path, passed: passed
        assert copying.mirroring.run().errors == []
        assert exported(copying.node) == exported(origin)


@pytest.mark.parametrize("settings", ["/api/settings", "/nowhere"])
def test_where_nothing_can_be_fetched_a_round_ends(
    tmp_path: Path, between: Tampering, settings: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirroring, "_MAX_UNAVAILABLE", 2)
    with a_mirror(tmp_path / "data", between.url) as copying:
        copying.mirroring._catalog._http.timeout = 1
        failing = Passed(503, {"content-type": "application/json"}, b'{"error":"Just now not."}')
        asked: Counter[str] = Counter()

        def tamper(path: str, passed: Passed) -> Passed:
            asked[path] += 1
            # The settings are read once before anything is copied.
            is_down = path.startswith("/cdn/") or (path == settings and asked[path] > 1)
            return failing if is_down else passed

        between.tamper = tamper
        with pytest.raises(CatalogUnavailable):
            copying.mirroring.run()
        assert "acme/clock" not in exported(copying.node)


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/api/v1/widgets/revocations", b"<!doctype html>"),
        ("/api/v1/widgets/search", b"[" * 10_000),
    ],
)
def test_what_is_no_catalog_is_not_mirrored(
    tmp_path: Path, between: Tampering, path: str, sent: bytes
) -> None:
    between.tamper = lambda asked, passed: (
        passed._replace(body=sent) if asked.startswith(path) else passed
    )
    with a_mirror(tmp_path / "data", between.url) as copying:
        with pytest.raises(ClientError, match="not what a catalog sends"):
            copying.mirroring.run()
        assert exported(copying.node) == {}


def test_a_published_version_never_changes(
    tmp_path: Path, origin: Node, between: Tampering
) -> None:
    with a_mirror(tmp_path / "data", between.url) as copying:
        copying.mirroring.run()
        before = exported(copying.node)["acme/clock"]

        def lie(document: Any) -> None:
            document["versions"][0]["sha256Hash"] = "0" * 64

        between.tamper = changed("/api/v1/widgets/acme/clock", lie)
        deprecate_version(origin.store, OPERATOR, "acme/clock", "1.0.0", "Old.")
        (error,) = copying.mirroring.run().errors
        assert "A published version never changes." in error
        assert exported(copying.node)["acme/clock"] == before
        undeprecate_version(origin.store, OPERATOR, "acme/clock", "1.0.0")
