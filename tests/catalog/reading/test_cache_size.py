"""The memory of caches: as set, or enough for the whole catalog if that is not too much."""

from pathlib import Path

import pytest

from widget_catalog.catalog.node import node
from widget_catalog.catalog.node.node import choose_cache_bytes, memory_bytes, prepare_node
from widget_catalog.catalog.replica.file import find_current
from widget_catalog.core.data_folder import DataFolder
from widget_catalog.core.load_settings import load_settings

_MB = 1 << 20


def _chosen_mb(data: Path, **given: str) -> int:
    return choose_cache_bytes(load_settings({}, None, {"data": str(data), **given}, {})) // _MB


def _grow_replica(data: Path, size_mb: int) -> None:
    current = find_current(DataFolder(data).replica)
    assert current is not None
    with current.open("r+b") as file:
        file.truncate(size_mb * _MB)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    prepare_node(tmp_path / "data").store.close()
    monkeypatch.setattr(node, "memory_bytes", lambda: 8192 * _MB)
    return tmp_path / "data"


def test_a_small_catalog_has_room_to_grow(data: Path) -> None:
    assert _chosen_mb(data) == 80


def test_before_the_first_start_it_is_the_usual(tmp_path: Path) -> None:
    assert _chosen_mb(tmp_path / "none") == 80


def test_a_catalog_of_ten_thousand_widgets_fits_as_a_whole(data: Path) -> None:
    _grow_replica(data, 87)
    assert _chosen_mb(data) == 217


def test_one_that_does_not_fit_gets_the_usual(data: Path) -> None:
    _grow_replica(data, 103)
    assert _chosen_mb(data) == 80


def test_all_workers_share_a_part_of_the_memory(data: Path) -> None:
    _grow_replica(data, 87)
    assert _chosen_mb(data, workers="2") == 217
    assert _chosen_mb(data, workers="3") == 80


def test_a_set_size_is_used(data: Path) -> None:
    _grow_replica(data, 87)
    assert _chosen_mb(data, cache_mb="16") == 16


def test_the_memory_of_a_container_counts(tmp_path: Path) -> None:
    everything = memory_bytes(tmp_path)
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_bytes(tmp_path) == everything
    (tmp_path / "memory.max").write_text(f"{512 * _MB}\n")
    assert memory_bytes(tmp_path) == 512 * _MB
