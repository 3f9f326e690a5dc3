"""Doctor: errors are named, leftovers are reported, and what can be rebuilt is."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO, NoReturn

import pytest
import sqlalchemy as sa

from catalog.replica.replica_content import change_widget
from support.pictures import a_picture
from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import stored_line, take
from transfer.importing import interrupted_import
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.catalog.store.staging import staged_batches
from widget_catalog.core.errors import BundlesDown, StoreUnavailable
from widget_catalog.core.files.contract import Kind, Stored
from widget_catalog.core.files.local import LocalBundles
from widget_catalog.operations.doctor import (
    Aside,
    Findings,
    TooMuch,
    check_catalog,
    delete_aside,
    find_orphans,
    list_aside,
    quarantine,
)

BYTES = b"export default class {}"


@pytest.fixture(autouse=True)
def filled(node: Node, base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)
    versions = [stored_line("1.0.0"), stored_line("2.0.0"), version_line("3.0.0")]
    take(node, ndjson(widget_line(versions=versions), widget_line("a/b")), base_folder)


def _check(node: Node) -> Findings:
    return check_catalog(node.store, node.bundles, node.replica)


def _bundle(node: Node) -> Path:
    [path] = node.folder.bundles.glob("*/*.js")
    path.chmod(0o644)
    return path


def _make_older(path: Path) -> None:
    an_hour_ago = time.time() - 3_600
    os.utime(path, (an_hour_ago, an_hour_ago))


def _untidy(node: Node) -> tuple[Path, Path]:
    """Leave a bundle without a version, and the leftovers of an interrupted write."""
    unknown = node.folder.bundles / "ab" / f"{'c' * 62}.js"
    unknown.parent.mkdir(exist_ok=True)
    unknown.write_bytes(b"x")
    half = node.folder.bundles / ".incoming-x"
    half.write_bytes(b"half")
    for path in (unknown, half):
        _make_older(path)
    return unknown, half


class UnusableBundles(LocalBundles):
    """Like an object store that becomes unreachable while doctor runs, or a full disk here."""

    def __init__(self, path: Path, error: StoreUnavailable) -> None:
        super().__init__(path)
        self._error = error

    def open(self, *_: object) -> NoReturn:
        raise self._error


@pytest.mark.parametrize("error", [BundlesDown(), StoreUnavailable("The disk is full.")])
def test_of_a_store_that_does_not_response_nothing_is_said(
    node: Node, error: StoreUnavailable
) -> None:
    gone = UnusableBundles(node.folder.bundles, error)
    with pytest.raises(type(error)):
        check_catalog(node.store, gone, node.replica)


class MeetingBundles(LocalBundles):
    """Opens two bundles at the same time, or fails; counts how often each was opened."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.opened: list[str] = []
        self._both = threading.Barrier(2, timeout=60)

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        self.opened.append(sha256_hash)
        self._both.wait()
        return super().open(sha256_hash, kind, start, stop)


def test_bundles_are_read_in_parallel_and_shared_ones_once(node: Node, base_folder: Path) -> None:
    (base_folder / "other.js").write_bytes(BYTES + b"//")
    other = stored_line("1.0.0", "other.js")
    take(node, ndjson(widget_line("acme/other", versions=[other])), base_folder)
    meeting = MeetingBundles(node.folder.bundles)

    findings = check_catalog(node.store, meeting, node.replica)

    assert findings == Findings(widgets=3, bundles=2)
    assert len(meeting.opened) == len(set(meeting.opened)) == 2


class WatchedBundles(LocalBundles):
    """Notes how many connections of the store are in use while bundles are read or listed."""

    def __init__(self, node: Node, on_open: Callable[[], object] = lambda: None) -> None:
        super().__init__(node.folder.bundles)
        self.connections: list[int] = []
        self._store = node.store
        self._on_open = on_open

    def open(
        self, sha256_hash: str, kind: Kind = "js", start: int = 0, stop: int | None = None
    ) -> BinaryIO:
        self.connections.append(self._store.connections()[0])
        self._on_open()
        return super().open(sha256_hash, kind, start, stop)

    def list_stored(self) -> Iterator[Stored]:
        self.connections.append(self._store.connections()[0])
        return super().list_stored()


def test_no_transaction_is_open_while_bundles_are_read_or_listed(node: Node) -> None:
    """With an object store that may take hours, and a database server ends idle transactions."""
    watched = WatchedBundles(node)

    assert check_catalog(node.store, watched, node.replica).is_healthy
    assert find_orphans(node.store, watched, set()).stored == 1

    assert watched.connections == [0] * 4


def test_versions_that_are_added_while_bundles_are_read_are_no_errors(
    node: Node, base_folder: Path
) -> None:
    (base_folder / "other.js").write_bytes(BYTES + b"//")
    other = ndjson(widget_line("acme/other", versions=[stored_line("1.0.0", "other.js")]))
    watched = WatchedBundles(node, lambda: take(node, other, base_folder))

    findings = check_catalog(node.store, watched, node.replica)

    assert findings == Findings(widgets=2, bundles=1)


def test_damaged_rows_do_not_hide_damaged_bundles(node: Node) -> None:
    interrupted_import(node, widget_line("late/clock"))
    with node.store.writing() as tx:
        tx.connection.execute(sa.update(staged_batches).values(drafts=b"noise"))
    _bundle(node).unlink()

    findings = _check(node)

    assert findings.errors == [
        "Widgets of an unfinished import are damaged. Restore the database from a backup.",
        "acme/clock 1.0.0: its bundle is missing or cannot be read.",
        "acme/clock 2.0.0: its bundle is missing or cannot be read.",
    ]
    assert (findings.bundles, findings.is_store_intact) == (1, False)


def test_a_sound_catalog_has_no_findings(node: Node) -> None:
    findings = _check(node)

    assert findings == Findings(widgets=2, bundles=1)
    assert findings.is_healthy


def test_a_sound_catalog_is_checked_while_somebody_writes(node: Node) -> None:
    other = open_node(node.folder.path)

    with node.store.writing():
        assert _check(other).is_healthy

    other.store.close()


def test_a_missing_bundle_is_a_error_of_every_version_that_has_it(node: Node) -> None:
    _bundle(node).unlink()

    findings = _check(node)

    assert findings.errors == [
        "acme/clock 1.0.0: its bundle is missing or cannot be read.",
        "acme/clock 2.0.0: its bundle is missing or cannot be read.",
    ]
    assert not findings.is_healthy


@pytest.mark.parametrize("content", [b"", b"other", BYTES + b"!", BYTES[:-1]])
def test_a_damaged_bundle_is_a_error(node: Node, content: bytes) -> None:
    _bundle(node).write_bytes(content)

    errors = _check(node).errors

    assert len(errors) == 2
    assert all(": its bundle is damaged (its hash is " in it for it in errors)


def test_bundles_of_no_version_and_leftovers_are_reported(node: Node) -> None:
    unknown, half = _untidy(node)

    findings = _check(node)

    assert findings.errors == []
    assert findings.orphans == [str(unknown), str(half)]
    assert not findings.is_healthy


def test_files_of_a_publish_under_way_are_not_called_orphans(node: Node) -> None:
    unknown, half = _untidy(node)
    for path in (unknown, half):
        path.touch()  # Stored just now; its version may be committed in a moment.

    assert _check(node).orphans == []


def test_stale_counts_are_reported_apart_from_documents(node: Node) -> None:
    node.counts.record([(1, 77), (2, 78)])

    assert _check(node) == Findings(widgets=2, bundles=1, counts_mended=2)
    assert _check(node).is_healthy


def test_orphans_are_moved_aside_and_nothing_else(node: Node) -> None:
    bundle = _bundle(node)
    unknown, half = _untidy(node)

    suspects = set(map(str, (unknown, half, bundle)))
    moved = quarantine(node.store, node.bundles, node.folder.path, suspects)

    assert (moved.files, moved.size_bytes) == (2, 5)
    for path, content in ((unknown, b"x"), (half, b"half")):
        assert not path.exists()
        assert (moved.folder / path.relative_to(node.folder.path)).read_bytes() == content
    assert bundle.read_bytes() == BYTES
    assert _check(node).is_healthy


def test_nearly_everything_is_moved_aside_only_if_that_is_meant(node: Node) -> None:
    orphans = [node.folder.bundles / "ab" / f"{i:062}.js" for i in range(10)]
    orphans[0].parent.mkdir()
    for path in orphans:
        path.write_bytes(b"x")
        _make_older(path)
    arguments = (node.store, node.bundles, node.folder.path, set(map(str, orphans)))

    with pytest.raises(TooMuch, match="Only 1 of 11 stored files are referred to"):
        quarantine(*arguments)

    assert all(path.exists() for path in orphans)
    assert quarantine(*arguments, is_forced=True).files == 10


def test_what_was_moved_aside_is_deleted_after_so_many_days(node: Node) -> None:
    aside = node.folder.path / "aside"
    now = datetime(2026, 6, 30, 12, tzinfo=UTC)
    for name in ("2026-05-30T12-00-00Z", "2026-06-01T12-00-00Z", "my own"):
        (aside / name / "bundles").mkdir(parents=True)
        (aside / name / "bundles" / "x.js").write_bytes(b"x")

    old = list(list_aside(node.folder.path, timedelta(days=30), now))

    assert old == [Aside(aside / "2026-05-30T12-00-00Z", 1, 1)]
    delete_aside(old[0])
    assert sorted(it.name for it in aside.iterdir()) == ["2026-06-01T12-00-00Z", "my own"]


def test_a_read_model_that_differs_is_rebuilt(node: Node) -> None:
    for widget_id in (1, 2):
        change_widget(node.folder.path, widget_id, display_name="Wrong")

    assert _check(node) == Findings(
        widgets=2,
        bundles=1,
        mended=[
            "the document of acme/clock differed from the database.",
            "the document of a/b differed from the database.",
        ],
    )
    assert _check(node).is_healthy


@pytest.mark.parametrize(
    ("suffix", "what"), [("md", "README"), ("png", "picture"), ("webp", "picture")]
)
def test_files_beside_the_bundle_are_checked_like_it(
    node: Node, base_folder: Path, suffix: str, what: str
) -> None:
    (base_folder / "README.md").write_text("# Clock")
    (base_folder / "a.png").write_bytes(a_picture())
    files = [
        {"path": "README.md", "file": "README.md"},
        {"path": "screenshots/a.png", "file": "a.png"},
    ]
    take(node, ndjson(widget_line("c/d", versions=[stored_line(files=files)])), base_folder)
    assert _check(node).errors == []
    [path] = node.folder.bundles.glob(f"*/*.{suffix}")

    path.chmod(0o644)
    path.write_bytes(b"other")
    [error] = _check(node).errors
    assert error.startswith(f"c/d 1.0.0: its {what} is damaged (its hash is ")
    path.unlink()
    assert _check(node).errors == [f"c/d 1.0.0: its {what} is missing or cannot be read."]
