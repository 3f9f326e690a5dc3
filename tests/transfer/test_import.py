"""Import: new data is added, existing data is skipped, and nothing else ever changes."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import exported, state_of, take
from widget_catalog.catalog.node.node import Node
from widget_catalog.transfer.import_checks import ImportSummary

pytestmark = pytest.mark.usefixtures("way")

OLD, NEW = "2026-01-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"


def _widgets(node: Node) -> dict[str, dict[str, Any]]:
    """Every widget by `scope/name`, as exported."""
    lines = map(json.loads, exported(node).splitlines())
    return {f"{it['scope']}/{it['name']}": it for it in lines}


def _texts(line: dict[str, Any]) -> tuple[str, str | None, str | None]:
    return line["displayName"], line["description"], line["icon"]


def _add(node: Node, *lines: dict[str, Any]) -> ImportSummary:
    return take(node, ndjson(*lines), node.folder.path)


def test_a_full_line_is_kept_word_for_word(node: Node) -> None:
    version = {
        "version": "1.0.0-rc.1+build.7",
        "bundleUrl": "http://cdn.example/a.js?x=1",
        "bundleSize": 2**53 - 1,
        "sha256Hash": "0123456789abcdef" * 4,
        "publishedAt": "2026-01-31T09:05:00.123Z",
        "yanked": True,
        "yankedReason": 'Größe \U0001f552 "quoted" \\ \u200d',
        "deprecationMessage": "Use 2.x.",
        "releaseNotes": "- one\n- two\r\n\t",
        "displayName": " Version's own ",
        "description": "",
        "icon": "",
        "minSize": {"w": 1, "h": 10_000},
        "maxSize": {"w": 10_000, "h": 1},
        "sdkVersion": "not a range",
        "configVersion": -(2**53) + 1,
        "permissions": ["net", "", "net"],
        "license": "MIT",
    }
    widget = {
        "scope": "0",
        "name": "a" * 64,
        "displayName": " İß ﬁ",
        "description": "",
        "icon": "mdi:clock",
        "isOfficial": None,
        "listed": False,
        "downloadCount": 2**53 - 1,
        "createdAt": "0001-01-01T00:00:00.000Z",
        "versions": [version],
    }

    _add(node, widget)

    assert _widgets(node) == {f"0/{'a' * 64}": widget}
    assert list(_widgets(node)[f"0/{'a' * 64}"]) == list(widget)


def test_what_is_not_given_has_its_default(node: Node) -> None:
    version = {
        key: version_line()[key]
        for key in ("version", "bundleUrl", "bundleSize", "sha256Hash", "publishedAt", "minSize",
                    "maxSize", "sdkVersion")
    }  # fmt: skip
    _add(node, {"scope": "a", "name": "b", "displayName": "B", "createdAt": OLD})
    _add(
        node,
        {"scope": "a", "name": "c", "displayName": "C", "createdAt": OLD, "versions": [version]},
    )

    found = _widgets(node)
    assert found["a/b"] == {
        "scope": "a", "name": "b", "displayName": "B", "description": None, "icon": None,
        "isOfficial": None, "listed": True, "downloadCount": 0, "createdAt": OLD, "versions": [],
    }  # fmt: skip
    assert found["a/c"]["versions"] == [
        version
        | dict.fromkeys(["yankedReason", "deprecationMessage", "releaseNotes", "displayName"])
        | dict.fromkeys(["description", "icon", "configVersion", "license"])
        | {"yanked": False, "permissions": []}
    ]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-01-31T09:05:00Z", "2026-01-31T09:05:00.000Z"),
        ("2026-01-31T09:05:00.1Z", "2026-01-31T09:05:00.100Z"),
        ("2026-01-31T09:05:00.123999Z", "2026-01-31T09:05:00.123Z"),
        ("2026-01-31T09:05:00+02:00", "2026-01-31T07:05:00.000Z"),
        ("2026-01-31T23:59:59.999-05:30", "2026-02-01T05:29:59.999Z"),
        ("1969-12-31T23:59:59.001Z", "1969-12-31T23:59:59.001Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
    ],
)
def test_instants_are_kept_as_whole_milliseconds_in_utc(node: Node, given: str, kept: str) -> None:
    _add(node, widget_line("a/b", createdAt=given, versions=[version_line(publishedAt=given)]))

    widget = _widgets(node)["a/b"]
    assert (widget["createdAt"], widget["versions"][0]["publishedAt"]) == (kept, kept)


def test_the_summary_tells_what_was_done(node: Node) -> None:
    one = widget_line("a/one", versions=[version_line("1.0.0"), version_line("2.0.0")])
    two = widget_line("a/two", versions=[])

    assert _add(node, one, two) == ImportSummary(widgets_added=2, versions_added=2)
    assert _add(node, one, two) == ImportSummary(versions_skipped=2)
    more = widget_line("a/one", versions=[version_line("2.0.0"), version_line("3.0.0")])
    assert _add(node, more) == ImportSummary(versions_added=1, versions_skipped=1)


def test_to_import_the_same_file_again_changes_nothing_at_all(node: Node, tmp_path: Path) -> None:
    content = ndjson(
        widget_line("a/one", downloadCount=5),
        widget_line("a/two", versions=[]),
        widget_line("a/three", listed=False),
    )
    take(node, content, tmp_path)
    before = state_of(node)

    take(node, content, tmp_path)

    after = state_of(node)
    assert (after.exported, after.files, after.revision) == before[:3]


def test_blank_lines_and_a_missing_last_line_end_do_not_matter(node: Node, tmp_path: Path) -> None:
    line = ndjson(widget_line("a/one"))
    content = b"\n  \n\r\n\t\n" + line[:-1] + b"\r\n\n" + ndjson(widget_line("a/two"))[:-1]

    assert take(node, content, tmp_path).widgets_added == 2
    assert take(node, b"", tmp_path) == ImportSummary()
    assert take(node, b"\n\n\n", tmp_path) == ImportSummary()


def test_a_newer_version_sets_the_widgets_text_and_an_older_one_does_not(node: Node) -> None:
    _add(node, widget_line("a/b", displayName="First", description="1", icon="i:1"))
    older = version_line("0.1.0", publishedAt=OLD)
    _add(node, widget_line("a/b", displayName="Old", description="0", icon=None, versions=[older]))
    assert _texts(_widgets(node)["a/b"]) == ("First", "1", "i:1")

    newer = version_line("0.2.0", publishedAt=NEW)
    _add(node, widget_line("a/b", displayName="New", description=None, icon=None, versions=[newer]))

    widget = _widgets(node)["a/b"]
    assert _texts(widget) == ("New", None, None)
    assert [it["version"] for it in widget["versions"]] == ["0.2.0", "1.0.0", "0.1.0"]


def test_of_the_same_instant_the_higher_version_sets_the_text(node: Node) -> None:
    _add(node, widget_line("a/b", displayName="First", versions=[version_line("1.1.0")]))
    _add(node, widget_line("a/b", displayName="Lower", versions=[version_line("1.0.0")]))
    assert _widgets(node)["a/b"]["displayName"] == "First"

    _add(node, widget_line("a/b", displayName="Higher", versions=[version_line("1.2.0-rc.1")]))
    assert _widgets(node)["a/b"]["displayName"] == "Higher"


def test_a_newer_version_that_is_yanked_sets_the_text_too(node: Node) -> None:
    _add(node, widget_line("a/b", displayName="First"))
    pulled = version_line("2.0.0", publishedAt=NEW, yanked=True)
    _add(node, widget_line("a/b", displayName="Pulled", versions=[pulled]))

    assert _widgets(node)["a/b"]["displayName"] == "Pulled"


def test_nothing_but_versions_and_text_comes_from_a_later_line(node: Node) -> None:
    first = widget_line("a/b", downloadCount=5, isOfficial=True, listed=False, createdAt=OLD)
    _add(node, first)
    again = widget_line(
        "a/b", displayName="New", downloadCount=99, isOfficial=False, listed=True, createdAt=NEW,
        versions=[version_line("2.0.0", publishedAt=NEW)],
    )  # fmt: skip

    _add(node, again)

    widget = _widgets(node)["a/b"]
    kept = {key: widget[key] for key in ("downloadCount", "isOfficial", "listed", "createdAt")}
    assert kept == {"downloadCount": 5, "isOfficial": True, "listed": False, "createdAt": OLD}


def test_the_same_hash_is_the_same_version_whatever_else_is_said_of_it(node: Node) -> None:
    _add(node, widget_line("a/b", versions=[version_line("1.0.0", license="MIT")]))
    before = exported(node)
    other = version_line("1.0.0", license="GPL", yanked=True, publishedAt=NEW, bundleSize=1)
    renamed = {**other, "version": "1.0.0+rebuilt"}

    for version in (other, renamed):
        line = widget_line("a/b", displayName="Other", versions=[version])
        assert _add(node, line) == ImportSummary(versions_skipped=1)

    assert exported(node) == before


def test_a_line_without_versions_changes_nothing_of_a_widget(node: Node) -> None:
    _add(node, widget_line("a/b", displayName="First"))
    before = exported(node)

    assert _add(node, widget_line("a/b", displayName="Other", versions=[])) == ImportSummary()

    assert exported(node) == before


def test_the_same_widget_in_several_lines_is_put_together(node: Node) -> None:
    summary = _add(
        node,
        widget_line("a/b", displayName="First", downloadCount=5, versions=[version_line("1.0.0")]),
        widget_line("x/y"),
        widget_line("a/b", displayName="Old", versions=[version_line("0.1.0", publishedAt=OLD)]),
        widget_line("a/b", displayName="New", versions=[version_line("2.0.0", publishedAt=NEW)]),
        widget_line("a/b", downloadCount=9, versions=[version_line("2.0.0", publishedAt=NEW)]),
    )

    assert summary == ImportSummary(widgets_added=2, versions_added=4, versions_skipped=1)
    widget = _widgets(node)["a/b"]
    assert (widget["displayName"], widget["downloadCount"]) == ("New", 5)
    assert [it["version"] for it in widget["versions"]] == ["2.0.0", "1.0.0", "0.1.0"]


def test_a_byte_order_mark_before_everything_is_passed_over(node: Node, tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + ndjson(widget_line("a/b"), widget_line("a/c"))

    assert take(node, content, tmp_path).widgets_added == 2


def test_a_huge_line_is_imported(node: Node) -> None:
    notes = "Größe " * 170_000
    versions = [version_line(f"1.0.{i}") for i in range(2000)]
    for i in (7, 8, 9):
        versions[i]["releaseNotes"] = notes

    summary = _add(node, widget_line("a/b", versions=versions))

    assert summary.versions_added == 2000
    [found] = [it for it in _widgets(node)["a/b"]["versions"] if it["version"] == "1.0.7"]
    assert found["releaseNotes"] == notes


@pytest.mark.parametrize("sdk", ["", "*", "not a range", "^", "latest", " >= 1 ", "ß", "x" * 9000])
def test_an_sdk_version_of_an_old_record_is_kept_whatever_it_is(node: Node, sdk: str) -> None:
    _add(node, widget_line("a/b", versions=[version_line(sdkVersion=sdk)]))

    assert _widgets(node)["a/b"]["versions"][0]["sdkVersion"] == sdk
