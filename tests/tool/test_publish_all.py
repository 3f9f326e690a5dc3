"""`widget publish --all` in a repository with several widgets, with the real open_service."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tool.publishing import edit
from tool.tool import Tool

pytestmark = pytest.mark.slow


def statuses(document: dict[str, Any]) -> dict[str, str]:
    return {it["folder"]: it["status"] for it in document["widgets"]}


def test_the_summary_follows_the_table_in_a_log(tool: Tool) -> None:
    """Where both streams are one."""
    tool.begin("clock")
    done = subprocess.run(
        [sys.executable, "-m", "widget_cli", "validate", "--all"],
        cwd=tool.home,
        env=tool.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "clock\tclock\t0.1.0\tvalid\n1 widget: 1 valid.\n"


def test_only_versions_that_are_not_published_yet_are_published(author: Tool) -> None:
    clock, weather = author.begin("clock"), author.begin("weather")
    assert statuses(author.json("publish", "--all", "--yes")) == {
        "clock": "published",
        "weather": "published",
    }
    edit(clock, version="0.2.0")
    author.begin("notes")
    (weather / "index.js").write_text("export function mount() {} // Not released.")

    said = author.run("publish", "--all", "--yes")

    scope = author.json("whoami")["scopes"][0]["name"]
    assert (said.code, said.out) == (
        0,
        (
            f"clock\t{scope}/clock\t0.2.0\tpublished\n"
            f"notes\t{scope}/notes\t0.1.0\tpublished\n"
            "weather\tweather\t0.1.0\tskipped: this version is published already\n"
        ),
    )
    assert said.err.endswith("3 widgets: 2 published, 1 skipped.\n")
    assert (
        f"Note: weather: {scope}/weather 0.1.0 is already published, with different content. "
        "To publish the changes, increase the version.\n"
    ) in said.err
    again = statuses(author.json("publish", "--all", "--yes"))
    assert again == {
        "clock": "already-published",
        "notes": "already-published",
        "weather": "already-published-differs",
    }


def test_an_invalid_widget_does_not_keep_the_others_from_being_published(author: Tool) -> None:
    author.begin("clock")
    edit(author.begin("broken"), version="one")

    said = author.run("publish", "--all", "--yes")

    assert said.code == 5
    assert [it.split("\t")[::3] for it in said.out.splitlines()] == [
        ["broken", "failed"],
        ["clock", "published"],
    ]
    assert said.err.startswith("broken\nError: ")
    document = json.loads(author.run("publish", "--all", "--yes", "--json").out)
    assert document["exitCode"] == 5
    assert document["widgets"][0]["details"][0].startswith("version: ")
    assert statuses(document) == {"broken": "failed", "clock": "already-published"}


def test_a_dry_run_publishes_nothing(author: Tool) -> None:
    author.begin("clock")
    for _ in range(2):
        said = author.run("publish", "--all", "--dry-run")
        assert (said.code, said.out.split("\t")[3]) == (0, "would be published\n")


def test_folders_inside_widgets_and_of_installed_packages_are_not_searched(author: Tool) -> None:
    manifest = (author.begin("clock") / "widget.json").read_bytes()
    for folder in ("clock/dist", "node_modules/clock", ".cache/clock"):
        (author.home / folder).mkdir(parents=True)
        (author.home / folder / "widget.json").write_bytes(manifest)
    assert statuses(author.json("publish", "--all", "--yes")) == {"clock": "published"}
    assert statuses(author.json("publish", "clock", "--all", "--yes")) == {
        "clock": "already-published"
    }


def test_two_folders_with_the_same_widget_are_an_error(author: Tool) -> None:
    author.begin("clock")
    edit(author.begin("copy"), name="clock", version="9.0.0")
    said = author.run("publish", "--all", "--yes")
    assert said.code == 5
    assert "Error: clock and copy are the same widget, clock.\n" in said.err
    assert said.out.endswith("copy\tclock\t9.0.0\tfailed\n")


def test_after_an_error_that_concerns_all_the_others_are_not_tried(author: Tool) -> None:
    author.begin("clock")
    author.begin("weather")
    wrong = {"WIDGET_TOKEN": "wct_wrong"}
    said = author.run("publish", "--all", "--yes", environment=wrong)
    assert said.code == 3
    assert said.out == "clock\tclock\t0.1.0\tfailed\nweather\tweather\t0.1.0\tnot tried\n"


def test_all_are_validated_without_a_catalog(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    offline = Tool(tmp_path / "home")
    offline.begin("clock")
    said = offline.run("validate", "--all")
    assert (said.code, said.out) == (0, "clock\tclock\t0.1.0\tvalid\n")
    (offline.begin("weather") / "index.js").write_text("export function mount() {")
    said = offline.run("validate", "--all")
    assert (said.code, said.out) == (
        5,
        "clock\tclock\t0.1.0\tvalid\nweather\t\t\tfailed\n",
    )
    assert said.err.startswith("weather\nError: ")
    assert said.err.endswith("2 widgets: 1 valid, 1 failed.\n")
    document = json.loads(offline.run("validate", "--all", "--json").out)
    assert statuses(document) == {"clock": "valid", "weather": "failed"}


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (("--bump", "patch"), 2, "--bump and --notes are for one widget."),
        (("--notes", "-"), 2, "--bump and --notes are for one widget."),
        ((), 5, "There is no widget.json in or below this folder."),
        (("nowhere",), 5, "nowhere is not a folder."),
    ],
)
def test_what_cannot_be_done_is_said(
    author: Tool, options: tuple[str, ...], code: int, sentence: str
) -> None:
    said = author.run("publish", "--all", "--yes", *options)
    assert (said.code, said.err.splitlines()[0]) == (code, f"Error: {sentence}")
