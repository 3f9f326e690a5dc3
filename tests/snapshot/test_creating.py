"""Creating a snapshot: one file, the same bytes for the same state, readable by standard tools."""

import subprocess
import tarfile
from pathlib import Path

import pytest

from snapshot.snapshots import Pair, everything, make, verify
from support.archives import extract_all
from support.widgets import ndjson, widget_line
from transfer.import_state import stored_line, take
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.core.errors import SnapshotRefused


def test_it_is_an_export_in_a_tar_file(origin: Node, keys: Pair, tmp_path: Path) -> None:
    header = make(origin, tmp_path / "s", keys)

    with tarfile.open(tmp_path / "s") as archive:
        extract_all(archive, tmp_path / "out")
    exported, files = everything(origin, tmp_path / "exported")
    assert (tmp_path / "out/catalog.ndjson").read_bytes() == exported
    assert {it.name: it.read_bytes() for it in (tmp_path / "out/bundles").iterdir()} == files
    assert (header.widgets, header.versions, header.files) == (3, 4, 3)
    subprocess.run(
        ["sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS"], cwd=tmp_path / "out", check=True
    )


def test_openssl_verifies_the_signature(origin: Node, keys: Pair, tmp_path: Path) -> None:
    make(origin, tmp_path / "s", keys)
    with tarfile.open(tmp_path / "s") as archive:
        extract_all(archive, tmp_path / "out")

    subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", keys.made.public, "-rawin",
         "-in", "snapshot.json", "-sigfile", "snapshot.sig"],
        cwd=tmp_path / "out", check=True, capture_output=True,
    )  # fmt: skip


def test_the_same_state_gives_the_same_bytes(origin: Node, keys: Pair, tmp_path: Path) -> None:
    make(origin, tmp_path / "a", keys)
    make(origin, tmp_path / "b", keys)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(it.name for it in tmp_path.glob("*") if it.is_file()) == ["a", "b"]


def test_only_these_scopes(origin: Node, keys: Pair, tmp_path: Path) -> None:
    header = make(origin, tmp_path / "s", keys, scopes=["labs"])

    assert (header.scopes, header.widgets, header.files) == (["labs"], 1, 0)
    with pytest.raises(SnapshotRefused, match="no widget in the scope nobody"):
        make(origin, tmp_path / "t", keys, scopes=["labs", "nobody"])
    assert not (tmp_path / "t").exists()


def test_a_delta_has_only_what_is_new(
    origin: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    (beside / "c.js").write_bytes(b"c")
    take(origin, ndjson(widget_line(versions=[stored_line("3.0.0", "c.js")])), beside)
    with origin.store.writing() as tx:
        add_downloads(tx, {2: 5})

    header = make(origin, tmp_path / "d", keys, since=tmp_path / "s")

    assert (header.widgets, header.versions, header.files) == (1, 3, 1)
    assert header.base is not None
    assert verify(tmp_path / "d", keys) == header
    nothing = make(origin, tmp_path / "e", keys, since=tmp_path / "d")
    assert (nothing.widgets, nothing.files) == (0, 0)


def test_a_delta_needs_a_snapshot_of_the_same_catalog_and_scopes(
    origin: Node, target: Node, keys: Pair, beside: Path, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", keys)
    take(target, ndjson(widget_line("other/one")), beside)

    with pytest.raises(SnapshotRefused, match="another catalog"):
        make(target, tmp_path / "d", keys, since=tmp_path / "s")
    with pytest.raises(SnapshotRefused, match="other scopes"):
        make(origin, tmp_path / "d", keys, scopes=["acme"], since=tmp_path / "s")


def test_a_damaged_or_missing_bundle_is_reported_and_nothing_is_written(
    origin: Node, keys: Pair, tmp_path: Path
) -> None:
    [stored] = [it for it in origin.bundles.list_stored() if it.size_bytes == 5000]
    Path(stored.place).chmod(0o600)
    Path(stored.place).write_bytes(b"B" * 5000)
    with pytest.raises(SnapshotRefused, match=f"{stored.sha256_hash}.js is damaged"):
        make(origin, tmp_path / "s", keys)
    Path(stored.place).unlink()
    with pytest.raises(SnapshotRefused, match="is missing"):
        make(origin, tmp_path / "s", keys)

    assert [it for it in tmp_path.iterdir() if it.is_file()] == []


def test_an_empty_catalog_has_no_snapshot(target: Node, keys: Pair, tmp_path: Path) -> None:
    with pytest.raises(SnapshotRefused, match="nothing in this catalog"):
        make(target, tmp_path / "s", keys)
