"""Loading a snapshot: into an empty catalog, or over an older state of the same one."""

import json
from pathlib import Path

import pytest

from snapshot.snapshots import Pair, everything, load, make
from support.widgets import import_widgets, ndjson, version_line, widget_line
from transfer.import_state import exported, state_of, stored_line, take
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.catalog.store.widgets import find_widgets
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.errors import InvalidImport, SnapshotRefused
from widget_catalog.moderation.revoke_version import revoke_version, unrevoke_version
from widget_catalog.publishing.change_widget import (
    deprecate_version,
    list_widget,
    set_official,
    unlist_widget,
    yank_version,
)
from widget_catalog.snapshot.store import LoadedSnapshot, save_loaded


def _change_everything(node: Node, beside: Path) -> None:
    """Every kind of change to a widget."""
    store, clock = node.store, "acme/clock"
    (beside / "c.js").write_bytes(b"c")
    new = widget_line(versions=[stored_line("3.0.0", "c.js", publishedAt="2026-02-01T00:00:00Z")])
    take(node, ndjson(new | {"displayName": "Clocks"}, widget_line("new/one")), beside)
    yank_version(store, COMMAND_LINE, clock, "1.0.0", "Slow.")
    deprecate_version(store, COMMAND_LINE, clock, "1.0.0", "Old.")
    revoke_version(store, node.bundles, COMMAND_LINE, clock, "2.0.0", "Malware.")
    set_official(store, COMMAND_LINE, clock, is_official=True)
    list_widget(store, COMMAND_LINE, "acme/hidden")
    unlist_widget(store, COMMAND_LINE, "labs/linked")


def _same(a: Node, b: Node, tmp_path: Path) -> None:
    assert everything(b, tmp_path / "of-b") == everything(a, tmp_path / "of-a")


def test_an_empty_catalog_becomes_the_same(
    origin: Node, target: Node, keys: Pair, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)

    loaded = load(target, tmp_path / "s", keys)

    _same(origin, target, tmp_path)
    assert (loaded.imported.widgets_added, loaded.changed) == (3, 0)


@pytest.mark.parametrize("is_delta", [False, True])
def test_an_older_state_follows(
    is_delta: bool, origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    load(target, tmp_path / "s", keys)
    _change_everything(origin, beside)
    make(origin, tmp_path / "t", keys, since=tmp_path / "s" if is_delta else None)

    loaded = load(target, tmp_path / "t", keys)

    _same(origin, target, tmp_path)
    assert (loaded.imported.versions_added, loaded.changed) == (2, 3)
    [revoked] = [it for it in json.loads(exported(target).splitlines()[0])["versions"]
                 if "revoked" in it]  # fmt: skip
    assert target.bundles.stat(revoked["sha256Hash"]) is None

    unrevoke_version(origin.store, origin.bundles, COMMAND_LINE, "acme/clock", "2.0.0")
    make(origin, tmp_path / "u", keys, since=tmp_path / "t" if is_delta else None)
    load(target, tmp_path / "u", keys)
    _same(origin, target, tmp_path)
    assert target.bundles.stat(revoked["sha256Hash"]) is not None


def test_the_feed_tells_what_has_happened(
    origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    load(target, tmp_path / "s", keys)
    _change_everything(origin, beside)
    make(origin, tmp_path / "t", keys)
    load(target, tmp_path / "t", keys)

    with target.store.reading() as connection:
        told = {(it.kind, it.version) for it in list_changes(connection, 3)}
    assert told == {
        ("imported", "3.0.0"), ("imported", "1.0.0"), ("text", None), ("yanked", "1.0.0"),
        ("deprecated", "1.0.0"), ("revoked", "2.0.0"), ("official", None), ("listed", None),
        ("unlisted", None),
    }  # fmt: skip


def test_loading_again_changes_nothing(
    origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    load(target, tmp_path / "s", keys)
    _change_everything(origin, beside)
    make(origin, tmp_path / "d", keys, since=tmp_path / "s")
    load(target, tmp_path / "d", keys)
    before = state_of(target)

    loaded = load(target, tmp_path / "d", keys)

    assert (loaded.imported.versions_added, loaded.changed) == (0, 0)
    assert state_of(target) == before


def test_counts_of_widgets_that_are_there_stay(
    origin: Node, target: Node, keys: Pair, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    load(target, tmp_path / "s", keys)
    with target.store.writing() as tx:
        add_downloads(tx, {1: 1})
    with origin.store.writing() as tx:
        add_downloads(tx, {1: 100})
    make(origin, tmp_path / "t", keys)
    load(target, tmp_path / "t", keys)

    assert json.loads(exported(target).splitlines()[0])["downloadCount"] == 8


def test_a_version_that_was_revoked_here_stays_revoked(
    origin: Node, target: Node, keys: Pair, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    load(target, tmp_path / "s", keys)
    revoke_version(target.store, target.bundles, COMMAND_LINE, "acme/clock", "1.0.0", "Not here.")

    load(target, tmp_path / "s", keys)

    with target.store.reading() as connection:
        [found] = find_widgets(connection, [("acme", "clock")]).values()
    assert [it.number for it in found.widget.versions if it.revocation] == ["1.0.0"]


def test_what_does_not_go_with_what_is_there_is_refused(
    origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "first", keys)
    make(origin, tmp_path / "labs", keys, scopes=["labs"])
    _change_everything(origin, beside)
    make(origin, tmp_path / "second", keys)
    make(origin, tmp_path / "delta", keys, since=tmp_path / "first")
    take(origin, ndjson(widget_line("new/two")), beside)
    make(origin, tmp_path / "third", keys)
    make(origin, tmp_path / "second-delta", keys, since=tmp_path / "second")

    def refused(name: str, why: str) -> None:
        before = state_of(target)
        with pytest.raises(SnapshotRefused, match=why):
            load(target, tmp_path / name, keys)
        assert state_of(target) == before

    refused("delta", "no snapshot was loaded here")
    load(target, tmp_path / "first", keys)
    refused("labs", "other scopes")
    refused("second-delta", "a delta to another snapshot")
    load(target, tmp_path / "third", keys)
    refused("second", "older than what is here")
    refused("delta", "a delta to another snapshot")


def test_a_catalog_with_widgets_of_its_own_is_refused(
    origin: Node, target: Node, keys: Pair, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    import_widgets(target, widget_line("mine/one"))

    with pytest.raises(SnapshotRefused, match="came from no snapshot"):
        load(target, tmp_path / "s", keys)


def test_a_snapshot_of_another_catalog_is_refused(
    origin: Node, target: Node, keys: Pair, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    with target.store.writing() as tx:
        save_loaded(tx, LoadedSnapshot("0" * 64, 1, "", None))

    with pytest.raises(SnapshotRefused, match="another catalog"):
        load(target, tmp_path / "s", keys)


def test_a_load_that_was_interrupted_is_taken_up(
    origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    header = make(origin, tmp_path / "s", keys)
    with target.store.writing() as tx:
        save_loaded(tx, LoadedSnapshot(header.origin, 0, "", None))
    import_widgets(target, widget_line(versions=[]), beside=beside)

    load(target, tmp_path / "s", keys)

    assert len(exported(target).splitlines()) == 3
    load(target, tmp_path / "s", keys)


def test_another_bundle_under_the_same_version_is_refused(
    origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    load(target, tmp_path / "s", keys)
    import_widgets(target, widget_line("new/one", versions=[version_line("1.0.0")]))
    (beside / "x.js").write_bytes(b"x")
    import_widgets(
        origin, widget_line("new/one", versions=[stored_line("1.0.0", "x.js")]), beside=beside
    )
    make(origin, tmp_path / "t", keys)
    before = state_of(target)

    with pytest.raises(InvalidImport, match="already published with another hash"):
        load(target, tmp_path / "t", keys)

    assert state_of(target) == before
