"""The replica matches the store: applied change by change, or rebuilt."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from backup.backups import change_one_letter
from catalog.replica.replica_content import change_record, contents, remove_document
from support.locks import held_by_another_process
from support.service import wait_for
from support.site import InProcessSite
from support.values import a_version, a_widget
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.replica import current_file
from widget_catalog.catalog.replica import writing as replica_writing
from widget_catalog.catalog.replica.comparison import check_replica
from widget_catalog.catalog.replica.encoding import decode_prepared, prepare, records_of
from widget_catalog.catalog.replica.file import ReplicaState
from widget_catalog.catalog.replica.filling import Progress
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.replica.records import FORMAT
from widget_catalog.catalog.replica.rendering import render
from widget_catalog.catalog.replica.writing import PreparedReader
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.catalog.store.rows import Row
from widget_catalog.core.db.prepared import PreparedBatch
from widget_catalog.core.errors import StoreUnavailable


def _spoiled(record: bytes) -> bytes:
    return record[:-5] + b"wrong"


def _differences(node: Node) -> int:
    found = check_replica(node.store, node.replica)
    assert found.damaged == []
    return len(found.mended) + found.counts


def _fill(node: Node) -> None:
    import_widgets(
        node,
        widget_line("acme/clock", versions=[version_line("1.0.0"), version_line("2.0.0")]),
        widget_line("acme/bare", versions=[], description=None, icon=None, isOfficial=None),
        widget_line("acme/hidden", listed=False, downloadCount=3),
    )
    import_widgets(node, widget_line("acme/clock", versions=[version_line("3.0.0", yanked=True)]))


def test_a_rebuild_is_the_same(node: Node) -> None:
    _fill(node)
    before = contents(node.folder.path)
    assert _differences(node) == 0
    assert contents(node.folder.path) == before

    node.replica.rebuild(node.store)

    after = contents(node.folder.path)
    # Including the newest changes, which clients follow.
    assert len(after["changes"]) == 4
    assert after == before
    assert [len(before[it]) for it in ("keys", "index_rows", "documents", "scopes")] == [3, 3, 3, 1]


def test_a_rebuild_by_several_processes_is_the_same(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(node)
    import_widgets(node, *(widget_line(f"many/w{i}") for i in range(20)))
    change_one_letter(node.folder.database)
    node.replica.rebuild(node.store)
    before = contents(node.folder.path)
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._BATCH", 2)
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._BATCHES_ALONE", 1)
    shown = []

    @contextlib.contextmanager
    def bar(total: int) -> Iterator[Progress]:
        shown.append(-total)
        yield shown.append

    node.replica.rebuild(node.store, bar)

    assert contents(node.folder.path) == before
    assert (shown[0], sum(shown[1:]), len(shown)) == (-23, 23, 13)
    assert [len(before[it]) for it in ("keys", "index_rows", "documents")] == [23, 22, 22]


@pytest.mark.parametrize(("max_bytes", "transactions"), [(1, 5), (1 << 20, 1)])
def test_a_rebuild_writes_what_takes_much_memory_in_several_transactions(
    node: Node, monkeypatch: pytest.MonkeyPatch, max_bytes: int, transactions: int
) -> None:
    import_widgets(node, *(widget_line(f"many/w{i}") for i in range(10)))
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._BATCH", 2)
    monkeypatch.setattr("widget_catalog.catalog.replica.filling._MAX_BYTES", max_bytes)
    monkeypatch.setattr("widget_catalog.catalog.replica.filling.fill_changes", lambda *_: None)
    written: list[Path] = []
    monkeypatch.setattr("widget_catalog.catalog.replica.filling.release_mapped", written.append)

    node.replica.rebuild(node.store)

    assert len(written) == transactions


def test_prepared_records_of_an_older_release_are_not_used() -> None:
    """They are in an import that was staged before an upgrade; the records are prepared again."""
    widget = a_widget("acme/clock", a_version())
    sound, document = prepare(widget), msgspec.msgpack.encode(render(widget))
    former = msgspec.msgpack.encode((FORMAT - 1, *decode_prepared(sound)[1:]))
    old: list[tuple[int, bytes | Row]] = [(1, ("acme", "clock")), (2, sound[:-9])]
    batch = PreparedBatch(5, [*old, (3, b"\x90"), (4, document), (5, sound), (6, former)])

    found = PreparedReader([batch]).take(dict.fromkeys(range(1, 7), 5), 5)

    assert found == {5: records_of(0, 0, render(widget))}


def test_damage_is_found_and_mended(node: Node) -> None:
    _fill(node)
    before = contents(node.folder.path)
    change_record(node.folder.path, "documents", 1, _spoiled)
    remove_document(node.folder.path, 2)

    found = check_replica(node.store, node.replica)

    assert found.mended == [
        "the document of acme/clock differed from the database.",
        "the document of acme/bare was missing.",
    ]
    assert before == contents(node.folder.path)
    assert _differences(node) == 0


def test_wrong_counts_are_found_and_mended(node: Node) -> None:
    """Including the count of a widget that was never downloaded."""
    _fill(node)
    for widget_id, stored in ((1, 0), (3, 3)):
        node.counts.record([(widget_id, 77)])

        assert _differences(node) == 1

        assert node.counts.slots[widget_id] == stored
        assert _differences(node) == 0


def test_one_of_another_format_is_rebuilt_at_the_start(node: Node) -> None:
    _fill(node)
    file = node.replica.current()
    with file.writing() as transaction:
        file.put_state(transaction, ReplicaState(format=0))
    change_record(node.folder.path, "documents", 1, _spoiled)

    prepare_node(node.folder.path).store.close()

    assert _differences(node) == 0
    assert node.replica.current().id != file.id


def test_a_failed_write_leaves_no_trace_in_it(node: Node) -> None:
    _fill(node)
    before = (contents(node.folder.path), node.revision.current(), node.counts.revision())

    class Interrupted(Exception):
        pass

    try:
        with node.store.writing() as tx:
            add_downloads(tx, {1: 5})
            raise Interrupted
    except Interrupted:
        pass

    assert (contents(node.folder.path), node.revision.current(), node.counts.revision()) == before
    assert node.counts.slots[1] == 0


def test_what_was_applied_but_not_announced_is_announced_by_the_next_count(node: Node) -> None:
    """As left by a process that was killed between the two."""
    _fill(node)
    shown = node.revision.current()
    for word in (0, shown + 1):
        with node.store.counting() as write:
            add_downloads(write, {1: 1})
        node.revision.show(word)

        with node.store.counting() as write:
            add_downloads(write, {1: 1})

        assert node.revision.current() == shown


@pytest.mark.slow
def test_what_could_not_be_applied_is_true_and_is_shown_later(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write has succeeded nevertheless; the next one, or the service, catches up."""
    _fill(node)
    monkeypatch.setattr(current_file, "_TIMEOUT_S", 0.1)
    reader = ReplicaReader(node.folder.replica)
    with held_by_another_process(node.folder.replica_lock) as holder:
        import_widgets(node, widget_line("acme/later"))

        assert not _is_found(reader, "acme/later")
        assert node.replica.error is not None
        assert f"process {holder.pid} " in node.replica.error
        with pytest.raises(StoreUnavailable, match="The read model cannot be changed just now"):
            node.replica.apply(node.store)
    node.replica.apply(node.store)

    assert _is_found(reader, "acme/later")
    assert node.replica.error is None
    assert _differences(node) == 0
    reader.close()


@pytest.mark.slow
def test_health_says_that_something_cannot_be_shown_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(current_file, "_TIMEOUT_S", 0.1)
    with InProcessSite(tmp_path / "data") as site:
        with held_by_another_process(site.node.folder.replica_lock):
            site.add(widget_line("acme/new"))
            wait_for(lambda: site.get("/api/health").status == 503)
            told = site.get("/api/health").json()
            assert told["checks"] == {"database": "ok", "bundles": "ok", "replica": "behind"}
            assert told["error"].startswith("Not all that was changed can be shown yet; the log")
            assert site.get("/api/v1/widgets/acme/new").status == 404
        wait_for(lambda: site.get("/api/health").status == 200)
        assert site.get("/api/v1/widgets/acme/new").status == 200


def test_a_reader_goes_over_to_one_that_was_rebuilt(tmp_path: Path) -> None:
    data, clock = tmp_path / "data", "/api/v1/widgets/acme/clock"
    with InProcessSite(data) as site:
        site.add(widget_line("acme/clock"), widget_line("acme/bell"))
        before = site.get(clock).body
        site.node.replica.rebuild(site.node.store)
        assert site.get(clock).body == before
        site.add(widget_line("acme/new"))
        assert site.get("/api/v1/widgets/acme/new").status == 200
        assert site.get("/api/v1/widgets/search").json()["total"] == 3
    assert sorted(it.suffix for it in (data / "replica").iterdir()) == ["", ".mdb", ".mdb-lock"]


def test_if_it_is_deleted_while_it_is_open_all_goes_on_and_the_next_start_makes_it(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    with InProcessSite(data) as site:
        site.add(widget_line("acme/clock"))
        shutil.rmtree(data / "replica")
        site.add(widget_line("acme/new"))
        assert site.get("/api/v1/widgets/acme/new").status == 200
        assert site.get("/api/v1/widgets/acme/clock").status == 200
        assert site.get("/api/health").status == 200
    with InProcessSite(data) as site:
        assert site.get("/api/v1/widgets/acme/new").status == 200
        assert site.get("/api/v1/widgets/search").json()["total"] == 2
        assert _differences(site.node) == 0


def test_a_worker_too_far_behind_forgets_all_it_has(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_writing, "KEPT_CHANGES", 3)
    _fill(node)
    reader = ReplicaReader(node.folder.replica)

    assert reader.latest_seq() == 4
    assert reader.list_changes(0) is None
    assert [it.seq for it in reader.list_changes(1) or ()] == [2, 3, 4]
    reader.close()


def test_one_of_another_database_is_rebuilt(tmp_path: Path) -> None:
    """A backup contains the database and the bundles; the rest of the folder may be older or
    newer.
    """
    data, clock = tmp_path / "data", "/api/v1/widgets/acme/clock"
    with InProcessSite(data) as site:
        site.add(widget_line("acme/clock"), widget_line("acme/seven", downloadCount=7))
    shutil.copy(data / "catalog.db", tmp_path / "backup.db")
    with InProcessSite(data) as site:
        site.post(clock)
        site.post("/api/v1/widgets/acme/seven")
        site.add(widget_line("acme/later", downloadCount=99))
    for leftover in data.glob("catalog.db*"):
        leftover.unlink()
    shutil.copy(tmp_path / "backup.db", data / "catalog.db")

    with InProcessSite(data) as site:
        assert site.get(clock).json()["widget"]["downloadCount"] == 0
        assert site.get("/api/stats").json()["downloads"] == 7
        assert site.get("/api/v1/widgets/acme/later").status == 404
        site.add(widget_line("acme/new"))
        body = site.get("/api/v1/widgets/search").json()

    shown = [(it["name"], it["downloadCount"]) for it in body["widgets"]]
    assert shown == [("seven", 7), ("clock", 0), ("new", 0)]


def test_a_rebuild_that_fails_leaves_the_old_one_and_nothing_else(node: Node) -> None:
    import_widgets(node, widget_line("acme/clock"))
    before = sorted(it.name for it in node.folder.replica.iterdir())

    @contextlib.contextmanager
    def failing(_total: int) -> Iterator[Progress]:
        def fail(_done: int) -> None:
            raise StoreUnavailable("The disk is full.")

        yield fail

    with pytest.raises(StoreUnavailable):
        node.replica.rebuild(node.store, failing)
    assert sorted(it.name for it in node.folder.replica.iterdir()) == before
    assert len(contents(node.folder.path)["documents"]) == 1


def test_a_start_removes_what_a_killed_rebuild_has_left(node: Node) -> None:
    import_widgets(node, widget_line("acme/clock"))
    before = sorted(it.name for it in node.folder.replica.iterdir())
    (node.folder.replica / "0123456789ab.mdb").write_bytes(b"half")
    (node.folder.replica / "0123456789ab.mdb-lock").touch()
    node.replica.close()
    prepare_node(node.folder.path).store.close()
    assert sorted(it.name for it in node.folder.replica.iterdir()) == before


def _is_found(reader: ReplicaReader, key: str) -> bool:
    with reader.snapshot() as reading:
        return reader.find(reading, key) is not None
