"""`widget publish`: what is shown, what is sent, what is said, and with which exit code."""

import hashlib
import json
import os
import pty
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from support.commands import Said
from support.scripted import DROPPED, Scripted, ScriptedServer
from support.tool import Tool

PUBLISH = "/api/widgets/publish"
DETAIL = "/api/v1/widgets/ann/clock"
OWN_DETAIL = "/api/widgets/ann/clock"
BUNDLE_URL = "https://cdn.example/@ann/clock/0.1.0/index.js"
NONE = Scripted(404, {"error": "There is no widget 'ann/clock'."})


@pytest.fixture
def catalog(server: ScriptedServer) -> ScriptedServer:
    """A catalog that takes the widget: `request`, then `confirm`."""
    scopes = [{"name": "ann", "type": "personal", "displayName": "Ann"}]
    server.on("GET", "/api/widgets/scopes", Scripted(body={"scopes": scopes}))
    server.on("GET", DETAIL, NONE)
    server.on("GET", OWN_DETAIL, NONE)
    place = {"uploadUrl": f"{server.url}/put?sig=1", "cdnUrl": BUNDLE_URL, "widgetId": "w"}
    request = Scripted(body={**place, "versionId": "v1", "cssUploadUrl": "/put-css?sig=2"})
    server.on("POST", PUBLISH, request, Scripted(body={"success": True, "bundleUrl": BUNDLE_URL}))
    server.on("PUT", "/put", Scripted(body={"success": True}))
    server.on("PUT", "/put-css", Scripted(body={"success": True}))
    return server


def published(
    widget: Path, catalog: ScriptedServer, version: str = "0.1.0", **fields: Any
) -> dict[str, Any]:
    """The public detail of a widget that has this one version, as it lies there."""
    content = (widget / "index.js").read_bytes()
    entry = {
        "version": version,
        "bundleUrl": f"{catalog.url}/cdn/index.js",
        "bundleSize": len(content),
        "sha256Hash": hashlib.sha256(content).hexdigest(),
        "publishedAt": "2026-01-31T09:05:00.000Z",
        "sdkVersion": "^2.0.0",
        "displayName": "Clock",
        "description": "Says in one sentence what the widget shows.",
        "icon": "mdi:puzzle-outline",
        "minSize": {"w": 2, "h": 1},
        "maxSize": {"w": 4, "h": 4},
        "permissions": [],
        "license": None,
        **fields,
    }
    head = {"scope": "ann", "name": "clock", "displayName": "Clock"}
    return {"widget": head, "versions": [entry], "latestVersion": version}


def edit(widget: Path, **fields: Any) -> None:
    file = widget / "widget.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def test_a_first_version_is_published(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    said = signed_in.run("publish", widget, "--yes")
    content = (widget / "index.js").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert said == Said(
        0,
        f"{BUNDLE_URL}\n",
        f"\nann/clock 0.1.0 to {catalog.url}\n"
        "  name           Clock\n"
        "  module         index.js, 1.6 KiB\n"
        f"  sha256         {digest}\n"
        "  SDK            ^2.0.0\n"
        "  permissions    none\n"
        "\nThis is its first version.\n\n"
        "Published ann/clock 0.1.0.\n",
    )
    request, confirm = catalog.of("POST", PUBLISH)
    text = (widget / "widget.json").read_text()
    assert request.json() == {
        "action": "request",
        "scope": "ann",
        "name": "clock",
        "displayName": "Clock",
        "description": "Says in one sentence what the widget shows.",
        "icon": "mdi:puzzle-outline",
        "minSize": {"w": 2, "h": 1},
        "maxSize": {"w": 4, "h": 4},
        "sdkVersion": "^2.0.0",
        "version": "0.1.0",
        "bundleSize": len(content),
        "sha256Hash": digest,
        "manifestJson": text,
    }
    assert confirm.json() == {"action": "confirm", "versionId": "v1"}
    (put,) = catalog.of("PUT", "/put")
    assert (put.body, put.query) == (content, "sig=1")
    assert put.headers["content-type"] == "application/javascript"
    assert put.headers["content-length"] == str(len(content))
    assert "authorization" not in put.headers


def test_a_style_sheet_goes_along(signed_in: Tool, widget: Path, catalog: ScriptedServer) -> None:
    edit(widget, style="look.css")
    (widget / "look.css").write_text("p {}")
    assert signed_in.run("publish", widget, "--yes").code == 0
    request = catalog.of("POST", PUBLISH)[0].json()
    assert request["cssSize"] == 4
    assert request["cssSha256Hash"] == hashlib.sha256(b"p {}").hexdigest()
    (put,) = catalog.of("PUT", "/put-css")
    assert (put.body, put.headers["content-type"]) == (b"p {}", "text/css")


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
        "Against 0.1.0, the last one:\n"
        "  size           100 bytes -> 27 bytes (-73 bytes)\n"
        "  SDK            ^1.0.0 -> ^2.0.0\n"
        "  license        none -> MIT\n"
        "  permission     no longer storage\n"
        "  new permission  network\n"
        "\nPublished ann/clock 0.2.0.\n"
    )


def test_a_script_gets_one_document(signed_in: Tool, widget: Path, catalog: ScriptedServer) -> None:
    body = published(widget, catalog)
    catalog.on("GET", DETAIL, Scripted(body=body))
    edit(widget, version="0.2.0", permissions=["network"])
    entry = body["versions"][0]
    assert signed_in.json("publish", widget, "--yes") == {
        "status": "published",
        "catalog": catalog.url,
        "scope": "ann",
        "name": "clock",
        "version": "0.2.0",
        "bundleUrl": BUNDLE_URL,
        "cssUrl": None,
        "bundleSize": entry["bundleSize"],
        "sha256Hash": entry["sha256Hash"],
        "sdkVersion": "^2.0.0",
        "permissions": ["network"],
        "newPermissions": ["network"],
        "previousVersion": "0.1.0",
        "changes": [],
        "warnings": [],
    }


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
        f"{catalog.url}/cdn/index.js\n",
        "ann/clock 0.1.0 is already published, with this very content. Nothing to do.\n",
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
        "Error: ann/clock 0.1.0+build is already published, with another content.\n"
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


def test_a_style_sheet_that_is_new_or_changed_is_told(
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
        "Note: widget.json says otherwise than published (license); raise the version."
    )


def test_other_permissions_under_the_same_number_are_refused(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog)))
    edit(widget, permissions=["network"])
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 6
    assert said.err.startswith(
        "Error: ann/clock 0.1.0 is already published, with another permissions."
    )


def test_bump_raises_the_version_there_and_here(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    before = (widget / "widget.json").read_text()
    assert signed_in.json("publish", widget, "--yes", "--bump", "minor")["version"] == "0.2.0"
    after = before.replace("0.1.0", "0.2.0")
    assert catalog.of("POST", PUBLISH)[0].json()["manifestJson"] == after
    assert (widget / "widget.json").read_text() == after


def test_bump_leaves_the_file_alone_if_nothing_is_published(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    before = (widget / "widget.json").read_text()
    catalog.on("POST", PUBLISH, Scripted(409, {"error": "That version exists."}))
    said = signed_in.run("publish", widget, "--yes", "--bump", "patch")
    assert said.code == 6
    assert "publish with --bump patch" in said.err
    assert signed_in.run("publish", widget, "--dry-run", "--bump", "patch").code == 6
    assert (widget / "widget.json").read_text() == before


def test_notes_are_sent_and_not_kept(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    before = (widget / "widget.json").read_text()
    arguments = ("publish", widget, "--yes", "--notes", "-")
    assert signed_in.run(*arguments, stdin="- Schöner\n".encode()).code == 0
    sent = json.loads(catalog.of("POST", PUBLISH)[0].json()["manifestJson"])
    assert sent["releaseNotes"] == "- Schöner"
    assert (widget / "widget.json").read_text() == before


def test_a_dry_run_asks_the_catalog_and_keeps_nothing(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("POST", PUBLISH, Scripted(body={"success": True, "cdnUrl": BUNDLE_URL}))
    said = signed_in.run("publish", widget, "--dry-run", "--bump", "major")
    assert said.code == 0
    assert said.err.endswith(
        "All is well. Without --dry-run, ann/clock 1.0.0 would be published.\n"
    )
    (asked,) = catalog.of("POST", PUBLISH)
    assert asked.json()["action"] == "check"
    assert '"0.1.0"' in (widget / "widget.json").read_text()


def test_what_is_safe_is_tried_again_and_the_request_is_not(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    request = catalog.answer_of("POST", PUBLISH)
    confirmed = Scripted(body={"success": True, "bundleUrl": BUNDLE_URL})
    busy = Scripted(503, {"error": "Just now not."})
    catalog.on("PUT", "/put", busy, DROPPED, Scripted(body={"success": True}))
    catalog.on("POST", PUBLISH, request, busy, confirmed)
    assert signed_in.run("publish", widget, "--yes").code == 0
    assert len(catalog.of("PUT", "/put")) == 3
    actions = [it.json()["action"] for it in catalog.of("POST", PUBLISH)]
    assert actions == ["request", "confirm", "confirm"]

    catalog.on("POST", PUBLISH, busy)
    catalog.asked.clear()
    assert signed_in.run("publish", widget, "--yes").code == 7
    assert len(catalog.of("POST", PUBLISH)) == 1


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (400, 5, "Correct the widget, then publish again."),
        (403, 4, "or ask an owner of ann."),
        (413, 5, "Correct the widget, then publish again."),
        (500, 1, "Try again later; if it lasts, tell the catalog's operator."),
    ],
)
def test_a_refusal_is_the_catalogs_sentence_and_a_hint(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, status: int, code: int, hint: str
) -> None:
    catalog.on("POST", PUBLISH, Scripted(status, {"error": "That is why \x1b[2J [red]not[/]."}))
    said = signed_in.run("publish", widget, "--yes", "--json")
    assert said.code == code
    told = json.loads(said.out)
    assert told["exitCode"] == code
    assert told["hint"].endswith(hint)
    assert "Error: That is why \ufffd[2J [red]not[/].\n" in said.err
    assert "\x1b" not in said.out + said.err


def test_an_upload_that_is_refused_publishes_nothing(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("PUT", "/put", Scripted(404, {"error": "This upload has ended."}))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (1, "")
    assert "This upload has ended.\n       Nothing was published. Run the same" in said.err


def test_a_store_that_refuses_the_upload_in_its_own_way_is_told(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("PUT", "/put", Scripted(403, b"<Error><Code>AccessDenied</Code></Error>"))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (1, "")
    assert "Error: The upload was refused with status 403.\n       Nothing was" in said.err


def test_the_scope_is_the_one_that_is_said_then_the_manifests_then_ones_own(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    scopes = [{"name": "acme", "type": "organization"}, {"name": "ann", "type": "personal"}]
    catalog.on("GET", "/api/widgets/scopes", Scripted(body={"scopes": scopes}))
    check = Scripted(body={"success": True})

    def chosen(*arguments: str) -> str:
        catalog.on("POST", PUBLISH, check)
        catalog.asked.clear()
        signed_in.json("publish", widget, "--dry-run", *arguments)
        return str(catalog.of("POST", PUBLISH)[0].json()["scope"])

    assert chosen() == "ann"
    edit(widget, scope="acme")
    assert chosen() == "acme"
    assert chosen("--scope", "@other") == "other"


def test_without_a_terminal_nothing_is_published_unless_it_was_agreed(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    said = signed_in.run("publish", widget)
    assert (said.code, said.out) == (2, "")
    assert "Pass --yes to go ahead without a question." in said.err
    assert catalog.asked == []


@pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_at_a_terminal_the_person_is_asked(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, answer: bytes, code: int
) -> None:
    request = catalog.answer_of("POST", PUBLISH)
    confirmed = Scripted(body={"success": True, "bundleUrl": BUNDLE_URL})
    catalog.on("POST", PUBLISH, Scripted(body={"success": True}), request, confirmed)
    controller, terminal = pty.openpty()
    started = subprocess.Popen(
        signed_in.command("publish", widget),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=signed_in.environ({"TERM": "xterm", "COLUMNS": "80"}),
    )
    os.close(terminal)
    os.write(controller, answer)
    out, _ = started.communicate(timeout=60)
    os.close(controller)
    assert started.returncode == code
    assert out.decode() == (f"{BUNDLE_URL}\n" if code == 0 else "")
    actions = [it.json()["action"] for it in catalog.of("POST", PUBLISH)]
    assert actions == (["check", "request", "confirm"] if code == 0 else ["check"])


def test_a_tool_that_is_too_old_stops_before_anything_is_sent(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    versions = {"minSupported": "0.9.0", "latest": "1.0.0"}
    catalog.on("GET", "/api/widgets/cli-version", Scripted(body=versions))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (8, "")
    assert said.err.startswith(f"Error: This is widget 0.1.0, and {catalog.url} wants at least 0.9")
    assert len(catalog.asked) == 1


def test_a_lower_number_than_the_last_is_pointed_out(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", DETAIL, Scripted(body=published(widget, catalog, "2.0.0")))
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 0
    assert "Note: 0.1.0 is below 2.0.0, and as the newest becomes the latest version." in said.err


def test_not_signed_in_is_told_with_the_way_in(
    tool: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    said = tool.run("publish", widget, "--yes")
    assert said == Said(
        3,
        "",
        f"Error: You are not signed in to {catalog.url}.\n"
        f"       Sign in: widget login {catalog.url} (machines set WIDGET_TOKEN).\n",
    )
