"""The read model is not in a backup: a restore builds it, so that the first start is fast."""

from pathlib import Path

import pytest

from backup.backups import back_up
from support.folders import filled_folder
from support.widgets import widget_line
from widget_catalog.backup import restore
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.catalog.replica.comparison import check_replica
from widget_catalog.catalog.replica.file import find_current
from widget_catalog.catalog.search import file as index_file
from widget_catalog.core.data_folder import DataFolder
from widget_catalog.core.db.migrate import SCHEMA


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    data = filled_folder(tmp_path / "data", *(widget_line(f"acme/w{i}") for i in range(20)))
    back_up(data, tmp_path / "backup")
    return tmp_path / "backup"


def test_a_restore_of_a_large_catalog_builds_what_the_first_start_needs(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "MIN_WIDGETS", 20)
    monkeypatch.setattr(index_file.keep_index, "__defaults__", (0, 20))
    data = tmp_path / "restored"
    manifest = restore.restore_backup(backup, data).manifest

    restore.build_replica(data, manifest)

    built, index = find_current(DataFolder(data).replica), DataFolder(data).search_index
    assert built is not None
    assert index.exists()
    node = prepare_node(data, checks_replica=True)
    assert find_current(DataFolder(data).replica) == built
    assert check_replica(node.store, node.replica).mended == []
    node.store.close()


@pytest.mark.parametrize(("widgets", "schema"), [(21, SCHEMA), (20, "0021")])
def test_that_of_a_small_catalog_or_of_an_older_release_is_left_to_the_start(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, widgets: int, schema: str
) -> None:
    monkeypatch.setattr(restore, "MIN_WIDGETS", widgets)
    manifest = restore.restore_backup(backup, tmp_path / "restored").manifest
    manifest.schema = schema

    restore.build_replica(tmp_path / "restored", manifest)

    assert sorted(it.name for it in (tmp_path / "restored").iterdir()) == ["bundles", "catalog.db"]


def test_a_restore_succeeds_if_it_cannot_be_built(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore, "MIN_WIDGETS", 1)
    manifest = restore.restore_backup(backup, tmp_path / "restored").manifest
    (tmp_path / "restored" / "replica").write_bytes(b"in the way")

    restore.build_replica(tmp_path / "restored", manifest)
