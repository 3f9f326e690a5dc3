"""Generated catalogs: reproducible, and valid for a real import."""

from pathlib import Path

import pytest
from bench.catalogs import COMMON, key_of, lines, vocabulary_of
from bench.folders import copy_of, ensure_folder, fingerprint

from support.site import InProcessSite
from widget_catalog.transfer.import_catalog import import_catalog

pytestmark = pytest.mark.slow

SIZE = 50


def test_a_catalog_is_the_same_every_time_it_is_made() -> None:
    assert list(lines(SIZE)) == list(lines(SIZE))


def test_a_catalog_imports_cleanly_and_every_widget_is_where_its_key_says(
    site: InProcessSite,
) -> None:
    node = site.node

    summary = import_catalog(
        node.store, node.bundles, lines(SIZE), node.folder.path, max_bundle_bytes=1
    )

    assert (summary.widgets_added, summary.versions_skipped) == (SIZE, 0)
    assert SIZE < summary.versions_added < SIZE * 9
    for number in range(SIZE):
        assert site.get(f"/api/v1/widgets/{key_of(number)}").status == 200


def test_rare_words_are_in_no_order_so_that_frequent_ones_do_not_all_begin_alike() -> None:
    rare = vocabulary_of(SIZE).words[len(COMMON) :]

    assert rare != sorted(rare)
    assert len({word[0] for word in rare[:50]}) > 5


def test_a_fingerprint_tells_sizes_apart_and_stays() -> None:
    assert fingerprint(10) == fingerprint(10) != fingerprint(11)


def test_a_folder_is_made_once_and_its_copy_has_all_but_the_passing_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bench.folders.CACHE", tmp_path / "cache")

    folder = ensure_folder(SIZE)
    made_at = (folder / "catalog.db").stat().st_mtime_ns
    again = ensure_folder(SIZE)
    copy = copy_of(folder, tmp_path / "copy")

    assert again == folder
    assert (folder / "catalog.db").stat().st_mtime_ns == made_at
    assert "50 widgets" in capsys.readouterr().err
    assert (copy / "catalog.db").exists()
    assert not (copy / "run").exists()
