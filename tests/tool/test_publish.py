"""`widget publish`: output, questions, and requests."""

import hashlib
import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from tool.publishing import BUNDLE_URL, DETAIL, PUBLISH, SCOPES, edit, published
from tool.tool import DESCRIPTION, Tool


def test_a_first_version_is_published(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    said = signed_in.run("publish", widget, "--yes")
    content = (widget / "index.js").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    assert said == Said(
        0,
        f"{catalog.url}/widgets/ann/clock\n{BUNDLE_URL}\n",
        f"\nann/clock 0.1.0 to {catalog.url}\n"
        "  name           Clock\n"
        "  module         index.js, 1.6 KiB\n"
        f"  sha256         {digest}\n"
        "  SDK            ^2.0.0\n"
        "  permissions    none\n"
        "\nThis is the first version.\n\n"
        "Published ann/clock 0.1.0.\n",
    )
    request, confirm = catalog.of("POST", PUBLISH)
    text = (widget / "widget.json").read_text()
    assert request.json() == {
        "action": "request",
        "scope": "ann",
        "name": "clock",
        "displayName": "Clock",
        "description": DESCRIPTION,
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
        "pageUrl": f"{catalog.url}/widgets/ann/clock",
        "bundleUrl": BUNDLE_URL,
        "cssUrl": None,
        "bundleSize": entry["bundleSize"],
        "sha256Hash": entry["sha256Hash"],
        "sdkVersion": "^2.0.0",
        "permissions": ["network"],
        "newPermissions": ["network"],
        "previousVersion": "0.1.0",
        "changes": [],
        "readme": None,
        "screenshots": [],
        "releaseNotesFrom": None,
        "warnings": [],
    }


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
    assert said.err.endswith(
        "Error: That version exists.\n       Increase the version: publish with --bump patch.\n"
    )
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
        "All checks passed. Without --dry-run, ann/clock 1.0.0 would be published.\n"
    )
    (asked,) = catalog.of("POST", PUBLISH)
    assert asked.json()["action"] == "check"
    assert '"0.1.0"' in (widget / "widget.json").read_text()


def test_the_scope_is_the_one_that_is_said_then_the_manifests_then_ones_own(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    scopes = [{"name": "ann", "type": "personal"}]
    scopes += [{"name": it, "type": "organization"} for it in ("acme", "other")]
    catalog.on("GET", SCOPES, Scripted(body={"scopes": scopes}))
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
    assert "Or pass --yes to skip the question." in said.err
    assert catalog.asked == []


@pytest.mark.parametrize(("response", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1)])
def test_at_a_terminal_the_person_is_asked(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, response: bytes, code: int
) -> None:
    request = catalog.response_of("POST", PUBLISH)
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
    os.write(controller, response)
    out, _ = started.communicate(timeout=60)
    os.close(controller)
    assert started.returncode == code
    printed = f"{catalog.url}/widgets/ann/clock\n{BUNDLE_URL}\n"
    assert out.decode() == (printed if code == 0 else "")
    actions = [it.json()["action"] for it in catalog.of("POST", PUBLISH)]
    assert actions == (["check", "request", "confirm"] if code == 0 else ["check"])
