"""Export: ordered, the same bytes for the same catalog, and importable."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.folders import empty_folder
from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import exported, state_of, stored_line, take
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.moderation.revoke_version import revoke_version
from widget_catalog.transfer.export_catalog import copied_to, export_catalog, linked_to
from widget_contract.texts import clean_line, clean_name, clean_text

MEMORY = Path("/dev/shm")


def _export_with_bundles(node: Node, folder: Path) -> bytes:
    folder.mkdir(exist_ok=True)
    return b"".join(export_catalog(node.store, copied_to(folder, node.bundles)))


def test_an_empty_catalog_is_an_empty_file(node: Node) -> None:
    assert exported(node) == b""


def test_lines_are_ordered_by_scope_and_name_and_versions_newest_first(
    node: Node, base_folder: Path
) -> None:
    keys = ["b/a", "a/b", "a-b/a", "a/a-", "a/a0", "a/a", "a0/a", "0/z"]
    versions = [version_line(it) for it in ("1.0.0", "10.0.0", "2.0.0")]
    take(node, ndjson(*(widget_line(it, versions=versions) for it in keys)), base_folder)

    lines = [json.loads(it) for it in exported(node).splitlines()]

    assert [(it["scope"], it["name"]) for it in lines] == sorted(
        tuple(it.split("/")) for it in keys
    )
    for line in lines:
        assert [it["version"] for it in line["versions"]] == ["10.0.0", "2.0.0", "1.0.0"]


def test_many_batches_are_one_order_without_a_gap(node: Node, base_folder: Path) -> None:
    count = 1203
    take(node, ndjson(*(widget_line(f"s{i % 7}/w{i}") for i in range(count))), base_folder)

    lines = [json.loads(it) for it in exported(node).splitlines()]

    found = [(it["scope"], it["name"]) for it in lines]
    assert found == sorted((f"s{i % 7}", f"w{i}") for i in range(count))


def test_counts_are_exported_as_they_are_now(node: Node, base_folder: Path) -> None:
    take(node, ndjson(widget_line("a/b", downloadCount=5), widget_line("a/c")), base_folder)
    with node.store.writing() as tx:
        add_downloads(tx, {1: 2})

    counts = [json.loads(it)["downloadCount"] for it in exported(node).splitlines()]

    assert counts == [7, 0]


def test_bundles_are_copied_beside_the_file_and_named_relative_to_it(
    node: Node, base_folder: Path, tmp_path: Path
) -> None:
    (base_folder / "clock.js").write_bytes(b"clock")
    versions = [stored_line("2.0.0"), version_line("1.0.0")]
    take(node, ndjson(widget_line(versions=versions)), base_folder)

    [line] = _export_with_bundles(node, tmp_path / "out").splitlines()

    stored, elsewhere = json.loads(line)["versions"]
    assert stored["bundleFile"] == f"bundles/{stored['sha256Hash']}.js"
    assert "bundleUrl" not in stored
    assert (tmp_path / "out" / stored["bundleFile"]).read_bytes() == b"clock"
    assert "bundleFile" not in elsewhere
    assert elsewhere["bundleUrl"] == "https://cdn.example/1.0.0.js"
    assert [it.name for it in (tmp_path / "out").iterdir()] == ["bundles"]
    assert len(list((tmp_path / "out" / "bundles").iterdir())) == 1


def test_without_bundles_a_stored_one_is_named_by_its_address(
    node: Node, base_folder: Path
) -> None:
    (base_folder / "clock.js").write_bytes(b"clock")
    take(node, ndjson(widget_line(versions=[stored_line("2.0.0+b.1")])), base_folder)

    [line] = export_catalog(node.store, linked_to("https://cdn.example/w"))

    [version] = json.loads(line)["versions"]
    assert version["bundleUrl"] == "https://cdn.example/w/@acme/clock/2.0.0+b.1/index.js"
    assert "bundleFile" not in version


def test_an_export_is_from_one_moment(node: Node, base_folder: Path) -> None:
    take(node, ndjson(*(widget_line(f"a/w{i:04}") for i in range(600))), base_folder)
    lines = export_catalog(node.store, linked_to("https://x"))
    first = next(lines)
    take(node, ndjson(widget_line("z/later")), base_folder)
    with node.store.writing() as tx:
        add_downloads(tx, {599: 5})

    found = [json.loads(it) for it in (first, *lines)]

    assert len(found) == 600
    assert {it["downloadCount"] for it in found} == {0}


@pytest.mark.usefixtures("way")
def test_revocations_are_exported_and_imported(
    node: Node, base_folder: Path, tmp_path: Path
) -> None:
    (base_folder / "clock.js").write_bytes(b"clock")
    (base_folder / "other.js").write_bytes(b"other")
    yanked: dict[str, Any] = {"yanked": True, "yankedReason": "Slow."}
    versions = [stored_line("2.0.0+b.1", **yanked), stored_line("1.0.0", "other.js")]
    take(node, ndjson(widget_line(versions=versions)), base_folder)
    revoke_version(node.store, node.bundles, COMMAND_LINE, "acme/clock", "2.0.0", "Malware.")
    content = _export_with_bundles(node, tmp_path / "out")
    other = open_node(empty_folder(tmp_path / "other"))

    take(other, content, tmp_path / "out")

    assert _export_with_bundles(other, tmp_path / "out") == content
    line = json.loads(content)["versions"][0]
    assert (line["yanked"], line["yankedReason"]) == (True, "Malware.")
    assert line["revoked"] == {"reason": "Malware.", "at": line["revoked"]["at"], **yanked}
    assert other.bundles.stat(line["sha256Hash"]) is None
    with other.bundles.open(line["sha256Hash"]) as kept:
        assert kept.read() == b"clock"
    with other.store.reading() as connection:
        changes = [(it.kind, it.version) for it in list_changes(connection, 0)]
    assert changes == [("imported", None), ("revoked", "2.0.0+b.1")]


def test_a_revoked_version_comes_to_a_widget_that_is_there(node: Node, base_folder: Path) -> None:
    take(node, ndjson(widget_line()), base_folder)
    revoked = {"reason": "Malware.", "at": "2026-02-01T00:00:00.000Z"}
    line = widget_line(versions=[version_line("2.0.0", revoked=revoked), version_line()])

    take(node, ndjson(line), base_folder)

    first, second = json.loads(exported(node))["versions"]
    assert (first["yanked"], first["yankedReason"]) == (True, "Malware.")
    assert first["revoked"] == {**revoked, "yanked": False, "yankedReason": None}
    assert "revoked" not in second
    with node.store.reading() as connection:
        changes = [(it.kind, it.version) for it in list_changes(connection, 1)]
    assert changes == [("imported", "2.0.0"), ("revoked", "2.0.0")]


def test_import_revokes_nothing_that_is_there(node: Node, base_folder: Path) -> None:
    take(node, ndjson(widget_line()), base_folder)
    before = exported(node)
    revoked = {"reason": "Malware.", "at": "2026-02-01T00:00:00.000Z"}

    take(node, ndjson(widget_line(versions=[version_line(revoked=revoked)])), base_folder)

    assert exported(node) == before


# Import keeps, and export returns, any allowed content of a line.
characters = st.characters(exclude_categories=["Cs"])
names_for_people = st.text(characters, max_size=8).map(clean_name)
texts = st.text(characters, max_size=8).map(clean_line)
notes = st.text(characters, max_size=8).map(clean_text)
instants = st.datetimes(max_value=datetime(2026, 1, 1)).map(  # noqa: DTZ001
    lambda it: it.isoformat() + "Z"
)
names = st.sampled_from(["a", "b", "a-b", "0", "z" * 64])
sizes = st.fixed_dictionaries({"w": st.integers(1, 10_000), "h": st.integers(1, 10_000)})
numbers = st.sampled_from(["1.0.0", "2.0.0", "1.0.0-rc.1", "0.0.1+b.7", "10.20.30"])


@st.composite
def _versions(draw: st.DrawFn, number: str) -> dict[str, Any]:
    nullable = st.none() | texts
    is_stored = draw(st.booleans())
    line = stored_line(number, draw(st.sampled_from(["a.js", "b.js"])))
    line |= {} if is_stored else version_line(number) | {"bundleFile": None}
    return line | draw(
        st.fixed_dictionaries(
            {
                "publishedAt": instants,
                "yanked": st.booleans(),
                "yankedReason": nullable,
                "deprecationMessage": nullable,
                "releaseNotes": st.none() | notes,
                "displayName": st.none() | names_for_people.filter(bool),
                "description": nullable,
                "icon": nullable,
                "minSize": sizes,
                "maxSize": sizes,
                "sdkVersion": texts,
                "configVersion": st.none() | st.integers(-(2**53) + 1, 2**53 - 1),
                "permissions": st.lists(texts, max_size=3),
                "license": nullable,
            }
        )
    )


@st.composite
def _lines(draw: st.DrawFn) -> list[dict[str, Any]]:
    keys = draw(st.lists(st.tuples(names, names), unique=True, max_size=5))
    return [
        {
            "scope": scope,
            "name": name,
            "displayName": draw(names_for_people.filter(bool)),
            "description": draw(st.none() | texts),
            "icon": draw(st.none() | texts),
            "isOfficial": draw(st.sampled_from([None, True, False])),
            "listed": draw(st.booleans()),
            "downloadCount": draw(st.none() | st.integers(0, 2**53 - 1)),
            "createdAt": draw(instants),
            "versions": [
                draw(_versions(number))
                for number in draw(st.lists(numbers, unique=True, max_size=3))
            ],
        }
        for scope, name in keys
    ]


@contextmanager
def _empty_node(folder: Path) -> Iterator[Node]:
    node = open_node(empty_folder(folder), is_durable=False)
    try:
        yield node
    finally:
        node.store.close()


@pytest.mark.slow
@settings(max_examples=30)
@given(_lines())
def test_an_exported_catalog_imported_elsewhere_is_exported_as_the_same_bytes(
    lines: list[dict[str, Any]],
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as made:
        folder = Path(made)
        (folder / "a.js").write_bytes(b"a")
        (folder / "b.js").write_bytes(b"b")
        with (
            _empty_node(folder / "one") as one,
            _empty_node(folder / "two") as two,
        ):
            take(one, ndjson(*lines), folder)
            first = _export_with_bundles(one, folder / "out")
            assert _export_with_bundles(one, folder / "out") == first
            take(two, first, folder / "out")
            again = state_of(two)
            take(two, first, folder / "out")

            assert _export_with_bundles(two, folder / "out") == first
            assert state_of(two)[:3] == again[:3]
            assert _hashes(two) == _hashes(one)
            assert len(first.splitlines()) == len(lines)


def _hashes(node: Node) -> list[str]:
    return [str(it.sha256_hash) for it in node.bundles.list_stored()]


@pytest.mark.parametrize("count", [1, 499, 500, 501])
def test_batches_of_any_size_come_back_whole(node: Node, base_folder: Path, count: int) -> None:
    take(
        node, ndjson(*(widget_line(f"a/w{i}", downloadCount=i) for i in range(count))), base_folder
    )
    first = exported(node)
    with _empty_node(base_folder / "other") as other:
        take(other, first, base_folder)

        assert exported(other) == first
        assert first.count(b"\n") == count
