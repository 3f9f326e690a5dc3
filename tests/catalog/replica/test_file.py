"""Opening the current file while another process replaces it, and errors of the disk."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lmdb
import pytest

from support.widgets import import_widgets, widget_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.replica import file as replica_file
from widget_catalog.catalog.replica import replica as replica_module
from widget_catalog.catalog.replica.file import ReplicaFile, find_current, make_current, named
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.core.errors import StoreUnavailable

_NEW = "0123456789ab.mdb"


def _replace(folder: Path) -> None:
    """As another process does it."""
    current = find_current(folder)
    assert current is not None
    shutil.copy(current, folder / _NEW)
    make_current(folder / _NEW)


def _once_before(function: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    acts = [act]

    def wrapped(*arguments: Any) -> Any:
        if acts:
            acts.pop()()
        return function(*arguments)

    return wrapped


def _once_after(function: Callable[..., Any], act: Callable[[], None]) -> Callable[..., Any]:
    acts = [act]

    def wrapped(*arguments: Any) -> Any:
        result = function(*arguments)
        if acts:
            acts.pop()()
        return result

    return wrapped


@pytest.mark.parametrize("moment", ["name read", "found", "checked", "lock file made"])
def test_a_file_that_is_replaced_while_it_is_opened_is_looked_up_again(
    node: Node, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    import_widgets(node, widget_line("acme/clock"))
    node.replica.close()
    folder = node.folder.replica

    def replace() -> None:
        _replace(folder)

    match moment:
        case "name read":
            monkeypatch.setattr(Path, "is_file", _once_before(Path.is_file, replace))
        case "found":
            find = _once_after(replica_file.find_current, replace)
            monkeypatch.setattr(replica_file, "find_current", find)
        case "checked":
            reserve = _once_before(replica_file._reserve_readers, replace)
            monkeypatch.setattr(replica_file, "_reserve_readers", reserve)
        case "lock file made":
            reserve = _once_after(replica_file._reserve_readers, replace)
            monkeypatch.setattr(replica_file, "_reserve_readers", reserve)

    reader = ReplicaReader(folder)

    assert reader.latest_seq() == 1
    assert reader.file.path == folder / _NEW
    reader.close()
    assert sorted(it.name for it in folder.iterdir()) == [_NEW, f"{_NEW}-lock", "current"]


def test_a_rebuilt_file_is_read_in_the_same_process_at_once(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that has built it still has it open."""
    reader = ReplicaReader(node.folder.replica)
    made = _once_after(make_current, reader.reopen_if_replaced)
    monkeypatch.setattr(replica_module, "make_current", made)

    node.replica.rebuild(node.store)

    assert reader.file.path == find_current(node.folder.replica)
    assert reader.latest_seq() == 0
    reader.close()


def test_a_file_that_does_not_exist_is_not_created(node: Node) -> None:
    missing = node.folder.replica / _NEW
    before = sorted(node.folder.replica.iterdir())

    with pytest.raises(StoreUnavailable, match="was replaced") as raised:
        ReplicaFile(missing)

    assert type(raised.value) is StoreUnavailable
    assert sorted(node.folder.replica.iterdir()) == before


def test_files_that_are_replaced_again_and_again_are_not_looked_up_forever(
    node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    node.replica.close()
    folder = node.folder.replica
    names = iter(f"{number:012}.mdb" for number in range(1_000))

    def replace(_path: Path) -> None:
        current = find_current(folder)
        assert current is not None
        new = current.with_name(next(names))
        shutil.copy(current, new)
        make_current(new)

    monkeypatch.setattr(replica_file, "_reserve_readers", replace)

    with pytest.raises(StoreUnavailable, match="was replaced"):
        ReplicaReader(folder)

    assert int(next(names).removesuffix(".mdb")) < 20


@pytest.mark.parametrize("kind", [lmdb.Error, lmdb.DiskError])
def test_an_error_of_the_disk_says_that_it_may_be_full(kind: type[lmdb.Error]) -> None:
    """LMDB reports a write that a full disk cut short as an input/output error."""
    said = named(kind("mdb_txn_commit: Input/output error")).message
    assert said == (
        "The read model cannot be used just now (mdb_txn_commit: Input/output error). "
        "The disk may be full."
    )
