"""What an imported file from someone else cannot do, and what the audit log records."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.stored_accounts import an_account, an_organization
from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import MAX_BUNDLE_BYTES, exported, state_of, stored_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.audit import AuditEntry, list_entries
from widget_catalog.core.actors import Actor, Via
from widget_catalog.core.errors import InvalidImport
from widget_catalog.moderation.manage_scopes import reserve_scope
from widget_catalog.moderation.revoke_version import revoke_everywhere
from widget_catalog.transfer.import_catalog import import_catalog
from widget_catalog.transfer.import_checks import ImportSummary

pytestmark = pytest.mark.usefixtures("way")

ALLOWED = (
    "control characters, invisible characters and marks that change the direction of writing are "
    "not allowed. Give --lenient to clean such texts."
)


def _take(node: Node, *lines: dict[str, Any], **options: Any) -> ImportSummary:
    content = ndjson(*lines).splitlines(keepends=True)
    base_folder = node.folder.path.parent
    return import_catalog(
        node.store,
        node.bundles,
        content,
        base_folder,
        MAX_BUNDLE_BYTES,
        file_name="w.ndjson",
        **options,
    )


def _refused(node: Node, *lines: dict[str, Any], **options: Any) -> list[str]:
    """The errors of a file; nothing of it is stored, not even in the audit log."""
    before, audited = state_of(node), _audit(node)
    with pytest.raises(InvalidImport) as refused:
        _take(node, *lines, **options)
    assert (state_of(node), _audit(node)) == (before, audited)
    return refused.value.message.splitlines()


def _audit(node: Node, scope: str | None = None) -> list[AuditEntry]:
    with node.store.reading() as connection:
        return list_entries(connection, scope, None, 1, 100)[0]


def _imports(node: Node, scope: str | None = None) -> list[tuple[str, str, str | None, Any]]:
    entries = [it for it in _audit(node, scope) if it.action == "import"]
    return [(it.actor, it.via, it.scope, it.details) for it in entries]


def test_bytes_that_were_revoked_everywhere_come_in_only_as_a_revoked_version(node: Node) -> None:
    (node.folder.path.parent / "clock.js").write_bytes(b"export default {};")
    _take(node, widget_line("acme/clock", versions=[stored_line()]))
    operator = Actor(via=Via.SESSION, account=an_account(node.store, "olly", is_operator=True))
    revoke_everywhere(
        node.store, node.bundles, operator, "acme/clock", "1.0.0", "It spies.", agreed=()
    )
    copy = widget_line("acme/copy", versions=[stored_line("2.0.0"), version_line("1.0.0")])

    assert _refused(node, copy) == [
        "Line 1: sha256Hash: the bytes of acme/copy 2.0.0 are revoked in this catalog: It spies."
    ]

    revoked = {"reason": "It spies.", "at": "2026-01-31T09:05:00.000Z"}
    copy = widget_line("acme/copy", versions=[stored_line("2.0.0", revoked=revoked)])
    assert _take(node, copy).versions_added == 1
    # What is there already is not looked at again.
    assert _take(node, widget_line("acme/clock", versions=[stored_line()])).versions_skipped == 1


@pytest.fixture
def owned(node: Node) -> Node:
    """A catalog in which ann has an account and an organization, acme; `kept` is reserved."""
    an_organization(node.store, "acme", owner=an_account(node.store, "ann"))
    reserve_scope(node.store, "kept")
    return node


def test_a_line_in_a_scope_that_belongs_to_somebody_is_refused(owned: Node) -> None:
    newer = version_line("9.9.9")

    assert _refused(owned, widget_line("x/y"), widget_line("ann/clock", versions=[newer])) == [
        "Line 2: scope: ann belongs to an account. Give --into-owned to add to it."
    ]


def test_a_line_in_an_owned_scope_is_reported_even_if_it_has_another_error(owned: Node) -> None:
    wrong = widget_line("ann/clock", displayName="")
    broken = widget_line("ann/bell", versions=[version_line(bundleSize=-1)])

    assert _refused(owned, wrong, widget_line("ann/w"), broken) == [
        "The file has 3 errors:",
        "Line 1: displayName: must be a text that is not empty.",
        (
            "Line 1: scope: ann belongs to an account (also in lines 2, 3). Give --into-owned to "
            "add to it."
        ),
        "Line 3: versions[0].bundleSize: must be a whole number from 0 to 9,007,199,254,740,991.",
    ]
    assert len(_refused(owned, wrong, into_owned=True)) == 1


def test_all_lines_in_owned_scopes_are_reported_by_scope(owned: Node) -> None:
    lines = [widget_line(f"ann/w{i}") for i in range(9)]
    lines[1] = widget_line("acme/clock")
    lines[2] = widget_line("acme/bell")

    hint = "Give --into-owned to add to it."
    assert _refused(owned, *lines) == [
        "The file has 2 errors:",
        f"Line 1: scope: ann belongs to an account (also in lines 4, 5, 6, 7 and 2 more). {hint}",
        f"Line 2: scope: acme belongs to an organization (also in line 3). {hint}",
    ]


def test_scopes_without_an_owner_are_free_to_import_into(owned: Node) -> None:
    assert _take(owned, widget_line("kept/a"), widget_line("free/a")).widgets_added == 2


def test_with_into_owned_the_owners_find_it_in_their_audit_log(owned: Node) -> None:
    lines = [widget_line("ann/clock"), widget_line("x/y"), widget_line("ann/bell", versions=[])]

    summary = _take(owned, *lines, into_owned=True)

    assert (summary.widgets_added, summary.versions_added) == (3, 2)
    told = {"file": "w.ndjson", "widgetsAdded": 2, "versionsAdded": 1}
    assert _imports(owned, "ann") == [("operator", "command", "ann", told)]
    assert _imports(owned, "acme") == []


def test_every_import_is_an_entry_with_its_file_and_its_counts(node: Node) -> None:
    _take(node, widget_line("a/b", isOfficial=True), widget_line("a/c"))
    _take(node, widget_line("a/b"))

    second, first = _imports(node)
    assert first == (
        "operator",
        "command",
        None,
        {
            "file": "w.ndjson",
            "widgetsAdded": 2,
            "versionsAdded": 2,
            "versionsSkipped": 0,
            "bundlesStored": 0,
            "officialAdded": 1,
            "textsCleaned": 0,
        },
    )
    assert second[3]["versionsSkipped"] == 1


def test_texts_inside_a_manifest_are_checked_or_cleaned(node: Node) -> None:
    said = {"name": "Clock", "schema": {"title": "x\u202ey"}, "readme": "\u200f"}
    line = widget_line("a/b", versions=[version_line(manifest=json.dumps(said))])

    assert _refused(node, line) == [
        f"Line 1: versions[0].manifest: schema.title: contains the character U+202E; {ALLOWED}"
    ]
    assert _take(node, line, is_lenient=True).texts_cleaned == 1
    (version,) = json.loads(exported(node))["versions"]
    assert json.loads(version["manifest"]) == {**said, "schema": {"title": "xy"}}


def test_the_summary_counts_the_official_marks_that_were_taken_over(node: Node) -> None:
    lines = [widget_line("a/b", isOfficial=True), widget_line("a/c"), widget_line("a/d")]
    lines[2]["isOfficial"] = None
    assert _take(node, *lines).official_added == 1

    # An existing widget keeps its mark, whatever the file says.
    assert _take(node, widget_line("a/c", isOfficial=True)).official_added == 0


def test_a_date_in_the_future_is_refused_but_for_the_skew_of_clocks(node: Node) -> None:
    now = datetime.now(UTC)
    soon, later = ((now + timedelta(minutes=it)).isoformat() for it in (4, 7))
    shown = f"{later[:23]}Z"

    errors = _refused(
        node, widget_line("a/b", createdAt=later, versions=[version_line(publishedAt=later)])
    )

    assert errors == [
        "The file has 2 errors:",
        f"Line 1: createdAt: {shown} is in the future.",
        f"Line 1: versions[0].publishedAt: {shown} is in the future.",
    ]
    assert _refused(node, widget_line("a/b", createdAt=later), is_lenient=True)
    fits = widget_line("a/b", createdAt=soon, versions=[version_line(publishedAt=soon)])
    assert _take(node, fits).widgets_added == 1


@pytest.mark.parametrize(
    ("key", "text", "code", "cleaned"),
    [
        ("displayName", "Cl\u202eock", "U+202E", "Clock"),
        ("displayName", "Cl\u200bock", "U+200B", "Clock"),
        ("displayName", "Clock\U000e0041", "U+E0041", "Clock"),
        ("description", "A\tclock\u0007", "U+0009", "A clock"),
        ("icon", "mdi:\x7fclock", "U+007F", "mdi:clock"),
        ("description", "a\0b", "U+0000", "ab"),
        ("description", "\u200f", "U+200F", ""),
    ],
)
def test_unwanted_characters_are_refused_or_with_lenient_removed(
    node: Node, key: str, text: str, code: str, cleaned: str
) -> None:
    line = widget_line("a/b", **{key: text})

    assert _refused(node, widget_line("x/y"), line) == [
        f"Line 2: {key}: contains the character {code}; {ALLOWED}"
    ]

    assert _take(node, line, is_lenient=True).texts_cleaned == 1
    assert json.loads(exported(node))[key] == cleaned


VERSION_TEXTS = {
    "yankedReason": "a\u2066b",
    "deprecationMessage": "a\u2028b",
    "releaseNotes": "- a\r\n\t- b\u001b[31m",
    "displayName": "\u3164",
    "description": "\u061c",
    "icon": "\u200e",
    "sdkVersion": "^1.0.0\n",
    "permissions": ["net", "net\u206a"],
    "license": "MIT\ufeff",
    "bundleUrl": "https://x/\u202ey.js",
    "manifest": '{"a": "\0"}',
}


def test_every_text_of_a_version_is_looked_at(node: Node) -> None:
    line = widget_line("a/b", versions=[version_line(), version_line("2.0.0", **VERSION_TEXTS)])

    errors = _refused(node, line)

    told = {it.split(": ")[1] for it in errors[1:]}
    keys = {key if key != "permissions" else "permissions[1]" for key in VERSION_TEXTS}
    assert told == {f"versions[1].{key}" for key in keys}


def test_a_name_of_which_nothing_is_left_is_refused_even_so(node: Node) -> None:
    line = widget_line("a/b", displayName="\u202e\u200b")

    assert _refused(node, line, is_lenient=True) == ["Line 1: displayName: must not be empty."]


@pytest.mark.parametrize(
    "text", ["Größe 時計 \U0001f468\u200d\U0001f469\u200d\U0001f467 ❤\ufe0f", 'quoted "\\" /']
)
def test_texts_in_any_writing_are_kept_as_they_are(node: Node, text: str) -> None:
    notes = f"{text}\n\t- {text}\r\n"
    version = version_line(releaseNotes=notes, displayName=text, license=text)
    line = widget_line("a/b", displayName=text, description=text, versions=[version])

    assert _take(node, line).texts_cleaned == 0

    kept = json.loads(exported(node))
    assert (kept["displayName"], kept["versions"][0]["releaseNotes"]) == (text, notes)


def test_all_errors_are_reported_at_once_in_the_order_of_lines(node: Node, tmp_path: Path) -> None:
    (tmp_path / "clock.js").write_bytes(b"export default 1;")
    _take(node, widget_line("a/there"))
    first = widget_line("a/b", displayName="", downloadCount="7", odd=1)
    del first["createdAt"]
    first["versions"] = [version_line(minSize={"w": 0}, permissions=["a", 1]), 5]
    second = widget_line("A/b", versions=[version_line("1.0"), stored_line(file="no.js")])
    other_hash = widget_line("a/there", versions=[version_line(sha256Hash="0" * 64)])
    good = widget_line("a/good", versions=[stored_line()])

    told = _refused(node, good, first, second, other_hash)

    assert [it[:80] for it in told] == [
        "The file has 12 errors:",
        "Line 2: displayName: must be a text that is not empty.",
        "Line 2: downloadCount: must be a whole number from 0 to 9,007,199,254,740,991.",
        "Line 2: createdAt: is missing.",
        "Line 2: versions[0].minSize.w: must be a whole number from 1 to 10,000.",
        "Line 2: versions[0].minSize.h: is missing.",
        "Line 2: versions[0].permissions[1]: must be a list of texts.",
        "Line 2: versions[1]: must be an object.",
        "Line 2: odd: there is no such field.",
        "Line 3: scope: 'A' is not a scope: use 1 to 64 lowercase letters, digits and hyp",
        'Line 3: versions[0].version: "1.0" is not a semantic version: write three number',
        f"Line 3: versions[1].bundleFile: There is no file {tmp_path / 'no.js'}."[:80],
        "Line 4: sha256Hash: a/there 1.0.0 is already published with another hash (92521f",
    ]


def test_of_very_many_errors_the_first_are_reported_and_the_rest_counted(node: Node) -> None:
    lines = [widget_line(f"a/w{i}", displayName="") for i in range(1_020)]

    told = _refused(node, *lines)

    assert told[0] == "The file has 1,020 errors:"
    assert told[1] == "Line 1: displayName: must be a text that is not empty."
    assert told[20] == "Line 20: displayName: must be a text that is not empty."
    assert told[21:] == ["… and 1,000 more."]


def test_what_a_error_quotes_is_short_and_harmless_to_a_terminal(node: Node) -> None:
    [told] = _refused(node, widget_line("a/b") | {"\x1b[31m" + "x" * 1_000_000: 1})

    assert told.startswith("Line 1: \\x1b[31mxxx")
    assert len(told) < 400
