"""Machines with an access token and the real service, each in separate processes."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import Said
from support.folders import empty_folder
from support.service import Service, running_service
from tool.signed_tool import machine

pytestmark = pytest.mark.slow


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running_service(empty_folder(tmp_path / "data"), "--set", "registration=open") as running:
        yield running


def test_a_machine_publishes_and_looks_after_a_widget(service: Service, tmp_path: Path) -> None:
    tool = machine(service, "ann", tmp_path / "ann", "publish", "yank", "deprecate", "list")
    folder = tool.home / "clock"
    assert tool.json("whoami")["scopes"] == [
        {"name": "ann", "type": "personal", "displayName": "ann"}
    ]
    tool.begin("clock")
    assert tool.json("publish", folder, "--dry-run")["status"] == "checked"
    with service.client() as client:
        assert client.get("/api/v1/widgets/ann/clock").status_code == 404

        first = tool.json("publish", folder, "--yes")

        assert first["status"] == "published"
        shown = client.get("/api/v1/widgets/ann/clock").json()
        assert shown["latestVersion"] == "0.1.0"
        entry = shown["versions"][0]
        content = (folder / "index.js").read_bytes()
        assert entry["bundleUrl"] == first["bundleUrl"]
        assert client.get(entry["bundleUrl"]).content == content
        assert entry["sha256Hash"] == hashlib.sha256(content).hexdigest() == first["sha256Hash"]
        assert tool.json("publish", folder, "--yes")["status"] == "already-published"

        (folder / "index.js").write_bytes(content + b"// more\n")
        assert tool.run("publish", folder, "--yes").code == 6
        manifest = json.loads((folder / "widget.json").read_text())
        changed = {**manifest, "permissions": ["network"], "style": "look.css"}
        (folder / "widget.json").write_text(json.dumps(changed))
        (folder / "look.css").write_text("p {}")
        second = tool.json("publish", folder, "--yes", "--bump", "minor")
        assert (second["version"], second["newPermissions"]) == ("0.2.0", ["network"])
        assert client.get(second["cssUrl"]).text == "p {}"
        assert tool.json("publish", folder, "--yes")["status"] == "already-published"
        (folder / "look.css").write_text("p { margin: 0 }")
        assert tool.run("publish", folder, "--yes").code == 6

        assert tool.run("yank", "ann/clock", "0.2.0", "--reason", "Broken.").code == 0
        yanked = client.get("/api/v1/widgets/ann/clock").json()
        assert yanked["latestVersion"] == "0.1.0"
        assert yanked["versions"][0]["yankedReason"] == "Broken."
        assert client.get(second["bundleUrl"]).status_code == 200
        assert tool.run("publish", folder, "--yes").code == 6
        assert tool.run("unyank", "ann/clock", "0.2.0").code == 0
        assert tool.run("deprecate", "ann/clock", "0.1.0", "-m", "Use 0.2.0.").code == 0
        assert tool.run("undeprecate", "ann/clock", "0.1.0").code == 0

        assert tool.run("unlist", "ann/clock", "--reason", "Not yet.").code == 0
        assert client.get("/api/v1/widgets/ann/clock").status_code == 404
        assert tool.json("info", "ann/clock")["listed"] is False
        assert tool.run("list", "ann/clock").code == 0
        assert client.get("/api/v1/widgets/ann/clock").status_code == 200


def test_what_is_not_allowed_is_reported(service: Service, tmp_path: Path) -> None:
    ann = machine(service, "ann", tmp_path / "ann")
    bob = machine(service, "bob", tmp_path / "bob")
    ann.begin("clock")
    assert ann.run("publish", "clock", "--yes").code == 0

    said = ann.run("yank", "ann/clock", "0.1.0", "--reason", "x")
    assert said.code == 4, said  # The token may publish, and nothing else.
    said = ann.run("tokens", "list")
    assert said.code == 4
    assert "unset WIDGET_TOKEN and run: widget login" in said.err
    bob.begin("clock")
    said = bob.run("publish", "clock", "--yes", "--scope", "ann", "--bump", "patch")
    assert said.code == 4, said
    assert "ask an owner of ann" in said.err
    assert bob.run("unlist", "ann/clock").code == 4
    bob.environment["WIDGET_TOKEN"] = "wct_wrong"
    assert bob.run("whoami").code == 3


def test_a_bundle_over_the_limit_is_refused_here(tmp_path: Path) -> None:
    limits = ("--set", "registration=open", "--set", "max_bundle_bytes=2000")
    with running_service(empty_folder(tmp_path / "data"), *limits) as service:
        tool = machine(service, "ann", tmp_path / "ann")
        tool.begin("clock")
        (tool.home / "clock" / "index.js").write_text(f"export function mount() {{}}{' ' * 2000}")
        said = tool.run("publish", "clock", "--yes")
        assert said.code == 5
        assert "the limit is 2.0 KiB" in said.err


def test_a_token_for_one_widget_publishes_that_one_and_says_what_it_may_do(
    service: Service, tmp_path: Path
) -> None:
    tool = machine(service, "ann", tmp_path / "ann", widgets=("ann/clock",))
    tool.begin("clock")
    tool.begin("weather")

    assert tool.run("publish", "clock", "--yes").code == 0
    assert tool.run("whoami").out.endswith("can publish to ann/clock\n")
    may = "It may only publish ann/clock."
    hint = "       Correct name or scope in widget.json, or use another token.\n"
    for more, wanted in (
        ((), "a widget named weather"),
        (("--scope", "ann"), "ann/weather"),
        (("--scope", "bob"), "bob/weather"),
    ):
        said = tool.run("publish", "weather", "--yes", *more)
        error = f"Error: The token in WIDGET_TOKEN may not publish {wanted}. {may}\n"
        assert said == Said(4, "", error + hint)
    unlisted = tool.run("unlist", "ann/clock")
    assert unlisted.code == 4
    assert unlisted.err.startswith(
        "Error: The access token does not allow this. It may only publish in ann/clock.\n"
    )


@pytest.mark.parametrize("change", ["", "// other\n"])
def test_the_same_content_in_somebody_elses_scope_is_refused_and_not_already_published(
    service: Service, tmp_path: Path, change: str
) -> None:
    ann = machine(service, "ann", tmp_path / "ann")
    bob = machine(service, "bob", tmp_path / "bob")
    for author in (ann, bob):
        author.begin("clock")
    assert ann.run("publish", "clock", "--yes").code == 0
    with (bob.home / "clock" / "index.js").open("a") as module:
        module.write(change)

    assert bob.run("publish", "clock", "--yes", "--scope", "ann") == Said(
        4,
        "",
        "Error: The token in WIDGET_TOKEN may not publish to the scope ann.\n"
        "       Choose one of your scopes with --scope (bob), or ask an owner of ann.\n",
    )
