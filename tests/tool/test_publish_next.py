"""`widget publish` of a published widget: unchanged, other content, the next version."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from tool.publishing import DETAIL, OWN_DETAIL, PUBLISH, edit, published
from tool.terminal import typed
from tool.tool import Tool


def test_what_has_changed_is_shown_new_permissions_above_all(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    body = published(widget, catalog, permissions=["storage"], sdkVersion="^1.0.0", bundleSize=100)
    catalog.on("GET", DETAIL, Scripted(body=body))
    edit(widget, version="0.2.0", permissions=["network"], license="MIT")
    (widget / "index.js").write_text("export function mount() {}\n")
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 0
    assert said.err.partition("\n\n")[2] == (
        "Changes since 0.1.0, the last version:\n"
        "  size           100 bytes -> 27 bytes (-73 bytes)\n"
        "  SDK            ^1.0.0 -> ^2.0.0\n"
        "  license        none -> MIT\n"
        "  permission     no longer storage\n"
        "  new permission  network\n"
        "\nPublished ann/clock 0.2.0.\n"
    )


def test_a_changed_module_of_the_same_size_is_shown(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, sha256Hash="0" * 64)))
    edit(widget, version="0.2.0")
    said = signed_in.run("publish", widget, "--yes")
    assert said.err.partition("\n\n")[2].startswith(
        "Changes since 0.1.0, the last version:\n"
        "  module         changed, and as large as before\n\n"
    )


@pytest.mark.parametrize("as_json", [False, True])
def test_release_notes_of_the_last_version_are_not_published_again(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, as_json: bool
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, releaseNotes="Faster.")))
    edit(widget, version="0.2.0", releaseNotes="Faster.\n")
    note = (
        "releaseNotes in widget.json are still those of 0.1.0, so they are not published again. "
        "Update them, write a section in CHANGELOG.md, or use --notes FILE."
    )

    said = signed_in.run("publish", widget, "--yes", *(["--json"] if as_json else []))

    assert said.code == 0
    assert said.err.startswith(f"Note: {note}\n")
    if as_json:
        assert json.loads(said.out)["warnings"] == [note]
    sent = json.loads(catalog.of("POST", PUBLISH)[0].json()["manifestJson"])
    assert sent["releaseNotes"] == ""
    assert json.loads((widget / "widget.json").read_text())["releaseNotes"] == "Faster.\n"


def test_release_notes_are_not_published_again_after_a_version_without_any(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    """The note about the second version is easily missed in CI, and the manifest keeps its text."""
    detail = published(widget, catalog, "0.2.0", releaseNotes=None)
    detail["versions"] += published(widget, catalog, releaseNotes="Faster.")["versions"]
    catalog.on("GET", DETAIL, Scripted(body=detail))
    edit(widget, version="0.3.0", releaseNotes="Faster.")

    said = signed_in.run("publish", widget, "--yes")

    assert said.err.startswith("Note: releaseNotes in widget.json are still those of 0.1.0, ")
    sent = json.loads(catalog.of("POST", PUBLISH)[0].json()["manifestJson"])
    assert sent["releaseNotes"] == ""


@pytest.mark.parametrize("notes", ["", "Slower."])
def test_other_release_notes_or_none_are_no_matter(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, notes: str
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, releaseNotes="Faster.")))
    edit(widget, version="0.2.0", releaseNotes=notes)

    assert "Note:" not in signed_in.run("publish", widget, "--yes").err


LOCK = {"domain": "lock", "access": "control"}
FRONT = {**LOCK, "entities": ["lock.front_*"]}


def test_new_capabilities_are_shown_in_words(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    permissions = ["read:camera", "control:lock"]
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, permissions=permissions)))
    camera = {"domain": "camera", "access": "read"}
    stated = {"manifest": {"capabilities": [camera, FRONT]}, "capabilities": []}
    catalog.on("GET", f"{DETAIL}/0.1.0", Scripted(body=stated))
    edit(widget, version="0.2.0", capabilities=[LOCK, {**LOCK, "domain": "alarm"}])

    shown = signed_in.run("publish", widget, "--yes", "--dry-run")
    told = signed_in.json("publish", widget, "--yes", "--dry-run")

    assert "  permissions    control locks, control alarms\n" in shown.err
    assert "  permission     no longer read cameras\n" in shown.err
    assert "  new permission  control locks\n" in shown.err
    assert "  new permission  control alarms\n" in shown.err
    assert told["permissions"] == told["newPermissions"] == ["control:lock", "control:alarm"]


@pytest.mark.parametrize(("stated", "code"), [([FRONT], 0), ([LOCK], 6)])
def test_the_same_version_with_other_capabilities_is_refused(
    signed_in: Tool,
    widget: Path,
    catalog: ScriptedServer,
    stated: list[dict[str, object]],
    code: int,
) -> None:
    body = published(widget, catalog, permissions=["control:lock"])
    catalog.on("GET", DETAIL, Scripted(body=body))
    catalog.on("GET", f"{DETAIL}/0.1.0", Scripted(body={"manifest": {"capabilities": stated}}))
    edit(widget, capabilities=[FRONT])

    said = signed_in.run("publish", widget, "--yes")

    assert said.code == code
    assert ("with different permissions" in said.err) == (code == 6)


def test_of_an_unlisted_widget_only_the_names_are_compared(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    body = published(widget, catalog, permissions=["control:lock"])
    catalog.on("GET", OWN_DETAIL, Scripted(body=body))
    edit(widget, capabilities=[FRONT])

    assert signed_in.run("publish", widget, "--yes").code == 0


@pytest.mark.parametrize("is_listed", [True, False])
def test_the_same_again_is_already_published(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, is_listed: bool
) -> None:
    catalog.on(
        "GET", DETAIL if is_listed else OWN_DETAIL, Scripted(body=published(widget, catalog))
    )
    said = signed_in.run("publish", widget, "--yes")
    assert said == Said(
        0,
        f"{catalog.url}/widgets/ann/clock\n{catalog.url}/cdn/index.js\n",
        "ann/clock 0.1.0 is already published with the same content. Nothing to do.\n",
    )
    assert catalog.of("POST", PUBLISH) == []


def test_the_same_version_with_other_bytes_is_refused(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, "0.1.0+build", yanked=True)))
    (widget / "index.js").write_text("export function mount() {}\n")
    said = signed_in.run("publish", widget, "--yes")
    assert said == Said(
        6,
        "",
        "Error: ann/clock 0.1.0+build is already published, with different content.\n"
        "       A published version never changes: publish with --bump patch.\n",
    )


def test_another_style_sheet_is_another_content(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog)))
    catalog.on("GET", "/cdn/index.css", Scripted(body=b"p {}"))
    edit(widget, style="look.css")
    (widget / "look.css").write_text("p {}")
    assert signed_in.run("publish", widget, "--yes").code == 0
    (widget / "look.css").write_text("p { margin: 0 }")
    assert signed_in.run("publish", widget, "--yes").code == 6


def test_a_style_sheet_that_is_new_or_changed_is_reported(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog)))
    catalog.on("GET", "/cdn/index.css", Scripted(body=b"p {}"))
    edit(widget, style="look.css", version="0.2.0")
    (widget / "look.css").write_text("p { margin: 0 }")

    told = signed_in.json("publish", widget, "--yes", "--dry-run")

    before, after = (sha256(it).hexdigest() for it in (b"p {}", b"p { margin: 0 }"))
    change = {"field": "cssSha256Hash", "before": before, "after": after}
    assert told["changes"] == [change]
    shown = signed_in.run("publish", widget, "--dry-run").err
    assert "  style          changed\n" in shown


def test_a_manifest_that_says_otherwise_than_published_is_pointed_out(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog)))
    edit(widget, license="MIT")
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 0
    assert said.err.startswith(
        "Note: widget.json differs from the published version (license); increase the version."
    )


def test_other_permissions_under_the_same_number_are_refused(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog)))
    edit(widget, permissions=["network"])
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 6
    assert said.err.startswith(
        "Error: ann/clock 0.1.0 is already published, with different permissions."
    )


def test_a_lower_number_than_the_last_is_pointed_out(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, "2.0.0")))
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 0
    assert "Note: 0.1.0 is lower than 2.0.0, but will be the latest version." in said.err


SCHEMA = {
    "required": ["hour"],
    "properties": {
        "hour": {"type": "integer", "title": "Hour", "maximum": 12},
        "face": {"enum": ["round", "square"]},
        "zone": {"type": "string"},
    },
}


def settings(catalog: ScriptedServer, widget: Path, version: int | None, schema: object) -> None:
    """0.1.0 is published with SCHEMA and settings of version 1; 0.2.0 has these."""
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, configVersion=1)))
    manifest = {"configSchema": SCHEMA, "configVersion": 1}
    catalog.on("GET", f"{DETAIL}/0.1.0", Scripted(body={"manifest": manifest}))
    stated = {"configSchema": schema, "configVersion": version, "releaseNotes": "More."}
    edit(widget, version="0.2.0", **stated)


CHANGED = {
    "required": ["hour", "place"],
    "properties": {"hour": {"type": "string"}, "face": {"enum": ["round"]}, "place": {}},
}
SAYS = (
    "The settings have changed (hour has another format, face has another format, zone is gone, "
    "place is required)"
)


def test_settings_of_another_format_are_pointed_out(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    settings(catalog, widget, 1, CHANGED)
    said = signed_in.run("publish", widget, "--yes", "--json")
    note = f"{SAYS}, but not configVersion. If saved settings no longer fit, raise it to 2, and "
    assert json.loads(said.out)["warnings"] == [f"{note}export migrate()."]


@pytest.mark.parametrize("answers", ["yy", "ny"])
def test_a_person_is_asked_whether_the_settings_have_another_version(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, answers: str
) -> None:
    settings(catalog, widget, 1, CHANGED)
    request = catalog.response_of("POST", PUBLISH)  # Once to check, once to publish.
    catalog.on("POST", PUBLISH, request, request, Scripted(body={"success": True}))
    said = typed(signed_in, "publish", str(widget), lines=[], then=answers)
    assert f"{SAYS}. With another configVersion, dashboards ask" in said.err
    wanted = 2 if answers == "yy" else 1
    sent = json.loads(catalog.of("POST", PUBLISH)[-2].json()["manifestJson"])
    assert sent["configVersion"] == wanted
    assert json.loads((widget / "widget.json").read_text())["configVersion"] == wanted
    assert (said.code, f"settings       1 -> {wanted}" in said.err) == (0, wanted == 2)


def test_settings_that_still_fit_are_not_pointed_out(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    hour = {"type": "integer", "title": "The hour", "maximum": 24, "default": 7}
    more = {"hour": hour, "face": {"enum": ["round", "square", "none"]}, "zone": {"type": "string"}}
    for version, schema in ((1, {"properties": {**more, "place": {}}}), (2, CHANGED)):
        settings(catalog, widget, version, schema)
        assert signed_in.json("publish", widget, "--yes", "--dry-run")["warnings"] == []
