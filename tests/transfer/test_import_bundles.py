"""Import with `bundleFile`: files are stored, verified, and removed if anything fails."""

import hashlib
import os
import threading
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import pytest

from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import MAX_BUNDLE_BYTES, state_of, stored_line, take
from widget_catalog.catalog.node.node import Node
from widget_catalog.core.errors import BundlesDown, InvalidImport
from widget_catalog.core.files.local import LocalBundles

pytestmark = pytest.mark.usefixtures("way")

BYTES = b"export default class {}"
HASH = hashlib.sha256(BYTES).hexdigest()
AT = "Line 1: versions[0]"


def _error(node: Node, base_folder: Path, **fields: Any) -> str:
    """The error for a version with these fields; nothing is stored."""
    before = state_of(node)
    with pytest.raises(InvalidImport) as refused:
        take(node, ndjson(widget_line(versions=[stored_line(**fields)])), base_folder)
    assert state_of(node) == before
    return refused.value.message


def test_a_bundle_is_kept_under_its_hash_and_cannot_be_written(
    node: Node, base_folder: Path
) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)

    summary = take(node, ndjson(widget_line(versions=[stored_line()])), base_folder)

    assert (summary.versions_added, summary.bundles_stored) == (1, 1)
    [path] = state_of(node).files
    assert path == node.folder.bundles / HASH[:2] / f"{HASH[2:]}.js"
    assert path.read_bytes() == BYTES
    assert path.stat().st_mode & 0o777 == 0o444


def test_size_and_hash_may_be_stated_and_must_be_true(node: Node, base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)

    assert _error(node, base_folder, bundleSize=22) == f"{AT}.bundleSize: clock.js has 23 bytes."
    assert (
        _error(node, base_folder, sha256Hash="0" * 64) == f"{AT}.sha256Hash: clock.js has {HASH}."
    )
    stated = stored_line(bundleSize=23, sha256Hash=HASH)
    assert take(node, ndjson(widget_line(versions=[stated])), base_folder).bundles_stored == 1


def test_a_version_that_is_elsewhere_already_leaves_no_file_behind(
    node: Node, base_folder: Path
) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)
    elsewhere = version_line(sha256Hash=HASH, bundleSize=len(BYTES))
    take(node, ndjson(widget_line(versions=[elsewhere])), base_folder)
    before = state_of(node)
    here = stored_line(elsewhere["version"])

    summary = take(node, ndjson(widget_line(versions=[here])), base_folder)

    assert (summary.versions_skipped, summary.bundles_stored) == (1, 0)
    assert state_of(node).files == before.files == []


def test_a_bundle_that_was_lost_comes_back_with_its_version(node: Node, base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)
    content = ndjson(widget_line(versions=[stored_line()]))
    take(node, content, base_folder)
    [path] = state_of(node).files
    path.unlink()

    summary = take(node, content, base_folder)

    assert (summary.versions_skipped, summary.bundles_stored) == (1, 1)
    assert path.read_bytes() == BYTES


def test_the_same_bytes_are_kept_once(node: Node, base_folder: Path) -> None:
    (base_folder / "a.js").write_bytes(BYTES)
    (base_folder / "b.js").write_bytes(BYTES)
    versions = [stored_line("1.0.0", "a.js"), stored_line("2.0.0", "b.js")]
    content = ndjson(widget_line("a/a", versions=versions), widget_line("b/b", versions=versions))

    assert take(node, content, base_folder).bundles_stored == 1
    assert len(state_of(node).files) == 1
    assert take(node, content, base_folder).bundles_stored == 0


def test_a_failed_import_takes_back_its_own_bundles_and_no_others(
    node: Node, base_folder: Path
) -> None:
    (base_folder / "old.js").write_bytes(b"old")
    (base_folder / "new.js").write_bytes(b"new")
    take(node, ndjson(widget_line("a/a", versions=[stored_line(file="old.js")])), base_folder)
    before = state_of(node)
    again = [stored_line("2.0.0", "old.js"), stored_line("3.0.0", "new.js")]
    content = ndjson(widget_line("a/a", versions=again), widget_line("a/b", displayName=""))

    with pytest.raises(InvalidImport, match=r"^Line 2: displayName"):
        take(node, content, base_folder)

    assert state_of(node) == before
    assert len(before.files) == 1


def test_a_version_with_other_bytes_is_refused_and_the_bytes_are_not_kept(
    node: Node, base_folder: Path
) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)
    take(node, ndjson(widget_line(versions=[stored_line()])), base_folder)
    (base_folder / "clock.js").write_bytes(b"other")

    message = _error(node, base_folder)

    assert message == (
        f"Line 1: sha256Hash: acme/clock 1.0.0 is already published with another hash ({HASH}); "
        "a published version never changes."
    )


def test_a_bundle_may_be_as_large_as_the_limit_and_no_larger(node: Node, base_folder: Path) -> None:
    (base_folder / "fits.js").write_bytes(b"x" * MAX_BUNDLE_BYTES)
    (base_folder / "large.js").write_bytes(b"x" * (MAX_BUNDLE_BYTES + 1))

    assert _error(node, base_folder, file="large.js") == (
        f"{AT}.bundleFile: large.js has 100001 bytes; at most 100000 are allowed."
    )
    fits = widget_line(versions=[stored_line(file="fits.js")])
    assert take(node, ndjson(fits), base_folder).bundles_stored == 1


def test_a_path_is_relative_to_the_file_and_may_lie_deeper(node: Node, base_folder: Path) -> None:
    (base_folder / "deep" / "er").mkdir(parents=True)
    (base_folder / "deep" / "er" / "ö b.js").write_bytes(BYTES)
    (base_folder / "link.js").symlink_to("deep/er/ö b.js")
    versions = [
        stored_line("1.0.0", "deep/er/ö b.js"),
        stored_line("2.0.0", "./deep/../deep/er/ö b.js"),
        stored_line("3.0.0", "link.js"),
    ]

    assert take(node, ndjson(widget_line(versions=versions)), base_folder).versions_added == 3
    assert [it.read_bytes() for it in state_of(node).files] == [BYTES]


@pytest.mark.parametrize(
    "file",
    ["../secret.js", "../files/../secret.js", "inner/../../secret.js", "..", "/", "/etc/passwd",
     "out.js", "out/secret.js", "../data/catalog.db"],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_is_refused(node: Node, base_folder: Path, file: str) -> None:
    (base_folder.parent / "secret.js").write_bytes(b"secret")
    (base_folder / "inner").mkdir()
    (base_folder / "out.js").symlink_to(base_folder.parent / "secret.js")
    (base_folder / "out").symlink_to(base_folder.parent)

    message = _error(node, base_folder, file=file)

    assert message == f"{AT}.bundleFile: {file} is not in the folder of the file that names it."


def test_an_absolute_path_to_a_file_beside_is_no_way_out(node: Node, base_folder: Path) -> None:
    sibling = base_folder.parent / "files-and-more"
    sibling.mkdir()
    (sibling / "clock.js").write_bytes(BYTES)

    for file in (str(sibling / "clock.js"), "../files-and-more/clock.js"):
        assert _error(node, base_folder, file=file).endswith(
            "is not in the folder of the file that names it."
        )


def test_what_is_no_file_is_refused(node: Node, base_folder: Path) -> None:
    (base_folder / "folder").mkdir()
    (base_folder / "loop").symlink_to("loop")
    (base_folder / "dangling").symlink_to("nothing")
    os.mkfifo(base_folder / "pipe")
    at = f"{AT}.bundleFile: "

    assert _error(node, base_folder, file="folder") == f"{at}folder is not a file."
    assert _error(node, base_folder, file=".") == f"{at}. is not a file."
    assert _error(node, base_folder, file="pipe") == f"{at}pipe is not a file."
    for name in ("missing", "folder/x", "dangling"):
        target = base_folder / ("nothing" if name == "dangling" else name)
        assert _error(node, base_folder, file=name) == f"{at}There is no file {target}."
    assert _error(node, base_folder, file="loop") in (
        f"{at}loop leads to no file.",
        # From Python 3.13 on, a loop is detected when the file is opened.
        f"{at}{base_folder / 'loop'} cannot be read (Too many levels of symbolic links).",
    )
    assert _error(node, base_folder, file="x" * 5000) == f"{at}{'x' * 200} leads to no file."
    assert _error(node, base_folder, file="") == f"{at}must be the path of a file."
    assert _error(node, base_folder, file="a\0b") == f"{at}a\\x00b leads to no file."


def test_a_file_is_no_folder_on_the_way_to_another(node: Node, base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(BYTES)

    message = _error(node, base_folder, file="clock.js/inner.js")

    assert message.startswith(f"{AT}.bundleFile: ")


def test_files_are_stored_in_parallel(
    node: Node, base_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, put = threading.Barrier(2, timeout=30), LocalBundles.put

    def put_together(self: LocalBundles, content: BinaryIO, *named: Any) -> bool:
        together.wait()
        return put(self, content, *named)

    monkeypatch.setattr(LocalBundles, "put", put_together)
    lines = []
    for name in ("one", "two", "three", "four"):
        (base_folder / f"{name}.js").write_text(name)
        lines.append(widget_line(f"acme/{name}", versions=[stored_line(file=f"{name}.js")]))

    assert take(node, ndjson(*lines), base_folder).bundles_stored == 4


def test_if_files_cannot_be_stored_the_import_ends_at_once(
    node: Node, base_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not with an error about every file, each after a timeout."""

    def refuse(*_: object) -> NoReturn:
        raise BundlesDown

    for name in ("one", "two"):
        (base_folder / f"{name}.js").write_text(name)
    monkeypatch.setattr(LocalBundles, "put", refuse)
    before = state_of(node)
    lines = [
        widget_line(f"acme/{it}", versions=[stored_line(file=f"{it}.js")]) for it in ("one", "two")
    ]

    with pytest.raises(BundlesDown):
        take(node, ndjson(*lines), base_folder)

    assert state_of(node) == before
