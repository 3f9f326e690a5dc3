"""The read model in a backup: a start from it rebuilds nothing, and nothing depends on it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backup.backups import back_up, catalog_with_replica_at
from support.commands import widget_catalog
from support.folders import filled_folder
from support.service import clean_environment
from support.widgets import import_widgets, widget_line
from widget_catalog.backup.layout import SNAPSHOTS, decode_sums, encode_sums, hash_in_name, hash_of
from widget_catalog.backup.making import back_up_to_file
from widget_catalog.backup.reading import check_backup
from widget_catalog.backup.restoring import restore_backup
from widget_catalog.catalog.node.wiring import DataFolder, prepare_node
from widget_catalog.catalog.replica.comparison import check_replica
from widget_catalog.catalog.replica.documents import Documents
from widget_catalog.catalog.replica.file import find_current
from widget_catalog.catalog.search.file import keep_index, load_index
from widget_catalog.core.errors import InvalidBackup


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with a search index in its file, and a backup of it."""
    folder = tmp_path_factory.mktemp("made")
    data = filled_folder(folder / "data", *(widget_line(f"acme/w{i}") for i in range(20)))
    keep_index(DataFolder(data).replica, DataFolder(data).search_index, least=1)
    back_up(data, folder / "backup", with_replica=True)
    return folder


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "data", tmp_path / "data"))


@pytest.fixture
def backup(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "backup", tmp_path / "backup"))


class Started(NamedTuple):
    """The result of a start from a backup."""

    replica_id: str
    has_index: bool
    widgets: int
    differences: list[str]


def _started(data: Path) -> Started:
    node = prepare_node(data, checks_replica=True)
    documents = Documents(node.folder.replica)
    with documents.snapshot():
        widgets = documents.highest_id()
        has_index = load_index(documents, node.folder.search_index) is not None
    found = Started(
        documents.identity, has_index, widgets, check_replica(node.store, node.replica).mended
    )
    documents.close()
    node.store.close()
    return found


def _replica_id(data: Path) -> str:
    path = find_current(DataFolder(data).replica)
    assert path is not None
    return path.stem


def _packed(backup: Path) -> list[Path]:
    return sorted((backup / "replica").iterdir())


def test_a_start_from_a_backup_rebuilds_nothing(data: Path, backup: Path, tmp_path: Path) -> None:
    file = tmp_path / "file.tar.zst"
    back_up_to_file(file, catalog_with_replica_at(data))

    for number, source in enumerate((backup, file)):
        restored = restore_backup(source, tmp_path / str(number))
        assert not restored.replica_faults
        assert _started(tmp_path / str(number)) == Started(_replica_id(data), True, 20, [])


def test_a_small_catalog_and_who_does_not_want_it_have_none_in_the_backup(
    data: Path, tmp_path: Path
) -> None:
    assert widget_catalog("backup", tmp_path / "small", "--data", data).code == 0
    back_up(data, tmp_path / "unwanted")

    for name in ("small", "unwanted"):
        assert check_backup(tmp_path / name).manifest.format == 1
        assert list((tmp_path / name).rglob("*.zst")) == []


def test_snapshots_share_a_read_model_until_it_is_far_behind(
    data: Path, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _packed(backup)
    node = prepare_node(data)
    import_widgets(node, widget_line("acme/later"))
    node.store.close()

    back_up(data, backup, with_replica=True)

    assert _packed(backup) == first
    restore_backup(backup, tmp_path / "later")
    assert _started(tmp_path / "later") == Started(_replica_id(data), True, 21, [])

    monkeypatch.setattr("widget_catalog.backup.replica_pool._MAX_BEHIND", 0)
    back_up(data, backup, with_replica=True)
    assert len(set(_packed(backup)) - set(first)) == 1
    restore_backup(backup, tmp_path / "earlier", "000001")
    assert _started(tmp_path / "earlier") == Started(_replica_id(data), True, 20, [])

    back_up(data, backup, keep=1, with_replica=True)
    assert len(_packed(backup)) == 2


def test_one_that_rots_in_the_backup_is_copied_again(data: Path, backup: Path) -> None:
    rotten, whole = _packed(backup)[0], _packed(backup)[0].read_bytes()
    rotten.write_bytes(b"x" + whole[1:])

    back_up(data, backup, with_replica=True)

    assert rotten.read_bytes() == whole
    check_backup(backup)


def _remove(backup: Path) -> None:
    for path in _packed(backup):
        path.unlink()


def _flip(backup: Path) -> None:
    for path in _packed(backup):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)


def _cut_off(backup: Path) -> None:
    for path in _packed(backup):
        path.write_bytes(path.read_bytes()[:-5])


def _make_older(backup: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["replica"]["format"] -= 1

    _rewrite(backup, change)


def _exchange(backup: Path) -> None:
    """Replace it by that of another catalog with the same number of changes."""
    other = filled_folder(backup.parent / "other", *(widget_line(f"b/w{i}") for i in range(20)))
    back_up(other, backup.parent / "others", with_replica=True)
    _remove(backup)
    for path in _packed(backup.parent / "others"):
        shutil.copy(path, backup / "replica")
    manifest = json.loads(next((backup.parent / "others").glob("*/*/manifest.json")).read_bytes())
    _rewrite(backup, lambda it: it.update(replica=manifest["replica"]))


def _rewrite(backup: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = next(backup.glob(f"{SNAPSHOTS}/*/manifest.json"))
    manifest = json.loads(path.read_bytes())
    change(manifest)
    path.write_text(json.dumps(manifest))
    sums = decode_sums(path.with_name("SHA256SUMS").read_bytes())
    sums = {file: it for file, it in sums.items() if not file.startswith("replica/")}
    files = [str(it.relative_to(backup)) for it in _packed(backup)]
    sums |= {file: hash_in_name(file) for file in files}
    sums[str(path.relative_to(backup))] = hash_of(path)
    path.with_name("SHA256SUMS").write_bytes(encode_sums(sums))


@pytest.mark.parametrize("harm", [_remove, _flip, _cut_off])
def test_what_is_wrong_with_it_is_said_and_is_no_reason_to_refuse(
    harm: Callable[[Path], None], data: Path, backup: Path, tmp_path: Path
) -> None:
    names = [it.name for it in _packed(backup)]
    harm(backup)

    with pytest.raises(InvalidBackup, match="the first start rebuilds the read model") as caught:
        check_backup(backup)
    assert all(it in caught.value.message for it in names)
    said = widget_catalog("restore", backup, "--data", tmp_path / "restored")

    assert said.code == 0
    notes = [it for it in said.err.splitlines() if it.startswith("Note: replica/")]
    assert len(notes) == 2
    started = _started(tmp_path / "restored")
    assert started.replica_id != _replica_id(data)
    assert started[1:] == (False, 20, [])


@pytest.mark.parametrize("harm", [_make_older, _exchange])
def test_one_that_does_not_fit_is_rebuilt_by_the_start(
    harm: Callable[[Path], None], data: Path, backup: Path, tmp_path: Path
) -> None:
    harm(backup)

    assert not restore_backup(backup, tmp_path / "restored").replica_faults
    had = find_current(DataFolder(tmp_path / "restored").replica)

    started = _started(tmp_path / "restored")
    assert started.replica_id not in (_replica_id(data), had and had.stem)
    assert started[1:] == (False, 20, [])


def test_one_that_cannot_be_read_or_does_not_fit_is_left_out(data: Path, tmp_path: Path) -> None:
    replica = find_current(DataFolder(data).replica)
    assert replica is not None
    whole = replica.read_bytes()

    replica.write_bytes(b"\xa5" * len(whole))
    made = back_up(data, tmp_path / "damaged", with_replica=True)
    assert made.replica_fault == "The read model cannot be read."
    assert not made.manifest.replica

    other = filled_folder(tmp_path / "other", widget_line("b/w"))
    shutil.rmtree(data / "replica")
    shutil.copytree(other / "replica", data / "replica")
    made = back_up(data, tmp_path / "others", with_replica=True)
    assert (made.replica_fault, bool(made.manifest.replica)) == (None, False)
    check_backup(tmp_path / "others")


_WRITER = """
import sys
from pathlib import Path
from support.widgets import import_widgets, widget_line
from widget_catalog.catalog.node.wiring import prepare_node

node = prepare_node(Path(sys.argv[1]))
for number in range(100_000):
    import_widgets(node, *(widget_line(f"busy/w{number}-{i}") for i in range(3)))
    print(number, flush=True)
"""


def test_it_is_never_ahead_of_the_database_however_much_is_written_meanwhile(
    data: Path, tmp_path: Path
) -> None:
    """If it were, it would not match, and the start would rebuild it."""
    tests = Path(__file__).parents[1]
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(data)],
        stdout=subprocess.PIPE,
        env={**clean_environment(), "PYTHONPATH": str(tests)},
    ) as writer:
        assert writer.stdout is not None
        try:
            applied = []
            for number in range(4):
                writer.stdout.readline()
                made = back_up(data, tmp_path / f"backup{number}", with_replica=True)
                assert made.manifest.replica
                applied.append((made.manifest.replica.seq, made.manifest.rows["changes"]))
        finally:
            writer.kill()

    assert len(set(applied)) == 4
    for number, (seq, newest) in enumerate(applied):
        assert seq <= newest
        restore_backup(tmp_path / f"backup{number}", tmp_path / f"restored{number}")
        started = _started(tmp_path / f"restored{number}")
        assert (started.replica_id, started.widgets) == (_replica_id(data), newest)
        assert started.differences == []
