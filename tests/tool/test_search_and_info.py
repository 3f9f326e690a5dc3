"""`widget search`, `info` and `versions` against the real service with the demo catalog."""

import json
import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import Said
from support.demo import examples_folder
from support.scripted import Scripted, ScriptedServer
from support.service import Service, running_service
from tool.tool import Tool


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = examples_folder(tmp_path_factory.mktemp("demo") / "data")
    with running_service(data, "--demo") as running:
        yield running


@pytest.fixture
def reader(tmp_path: Path, service: Service) -> Tool:
    return Tool(tmp_path, service.url)


def test_search_in_a_pipe_is_a_line_a_widget_with_tabs(reader: Tool) -> None:
    assert reader.run("search", "world", "clock") == Said(
        0, "catalog/world-clock\t2.0.0\t9120\tWorld clock · 世界時計\n", ""
    )


def test_search_tells_which_version_fits_an_sdk(reader: Tool) -> None:
    said = reader.run("search", "world", "--sdk", "1.0.0", "--official")
    assert said.out.startswith("catalog/world-clock\t1.0.0\t")


def test_search_for_a_script_is_what_the_catalog_says(reader: Tool, service: Service) -> None:
    with service.client() as client:
        told = client.get("/api/v1/widgets/search?q=clock&page=1&limit=2&scope=catalog").json()
        (exact,) = client.get("/api/v1/widgets/search?q=clock&limit=1&scope=catalog").json()[
            "widgets"
        ]
    assert reader.json("search", "clock", "--limit", "2", "--scope", "catalog") == {
        **told,
        "exact": [exact],
        "suggestions": [],
    }


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("catalog/clock", "catalog/clock"),
        ("@catalog/clock", "catalog/clock"),
        ("world-clock", "catalog/world-clock"),
        ("labs/air-quality", "labs/air-quality"),  # It has no version.
    ],
)
def test_search_finds_a_widget_by_its_name(
    reader: Tool, service: Service, words: str, shown: str
) -> None:
    with service.client() as client:
        everything = client.get("/api/v1/widgets/search?limit=100&compatSdk=1.0.0").json()
    said = reader.run("search", words)
    assert (said.code, said.err) == (0, "")
    assert [it.split("\t")[0] for it in said.out.splitlines()] == [shown]
    (summary,) = (it for it in everything["widgets"] if f"{it['scope']}/{it['name']}" == shown)
    summary["isOfficial"] = bool(summary["isOfficial"])  # As in a detail.
    assert reader.json("search", words, "--sdk", "1.0.0")["exact"] == [summary]


def test_the_widget_of_that_name_is_on_top(reader: Tool, service: Service) -> None:
    with service.client() as client:
        told = client.get("/api/v1/widgets/search?q=calendar").json()["widgets"]
        found = [f"{it['scope']}/{it['name']}" for it in told]
    said = reader.run("search", "calendar")
    assert [it.split("\t")[0] for it in said.out.splitlines()] == [
        "catalog/calendar",
        *(it for it in found if it != "catalog/calendar"),
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("catalog/clock", "--not-official"),
        ("catalog/clock", "--scope", "home"),
        ("labs/dice",),  # It is unlisted.
        ("catalog/clock", "--page", "2"),
        ("Catalog/Clock/",),
    ],
)
def test_a_name_that_does_not_fit_the_search_is_not_shown(
    reader: Tool, arguments: tuple[str, ...]
) -> None:
    assert reader.json("search", *arguments)["exact"] == []


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("clok", "catalog/clock"),
        ("wether", "home/weather"),
        ("catalog/clok", "catalog/clock"),
        ("catalg/clock", "catalog/clock"),
        ("world clcok", "catalog/world-clock"),
    ],
)
def test_near_misses_are_suggested(reader: Tool, words: str, meant: str) -> None:
    said = reader.run("search", words)
    assert (said.code, said.out) == (0, "")
    first, second = said.err.splitlines()
    assert first == "No widgets found."
    assert re.match(rf"Did you mean {meant}( or \S+)*\?$", second)


def test_names_that_are_alike_are_suggested_before_names_for_people(
    tool: Tool, server: ScriptedServer
) -> None:
    nothing = Scripted(body={"widgets": [], "total": 0, "page": 1, "limit": 20})
    widgets = [
        {
            "scope": "ann",
            "name": name,
            "displayName": "Clock",
            "description": None,
            "icon": None,
            "isOfficial": False,
            "downloadCount": 0,
            "latestVersion": None,
        }
        for name in ("a", "c2", "clock")
    ]
    some = Scripted(body={"widgets": widgets, "total": 3, "page": 1, "limit": 20})
    server.on("GET", "/api/v1/widgets/search", nothing, some)

    said = tool.run("search", "clok")

    assert said.err.splitlines()[-1].startswith("Did you mean ann/clock or ann/")


def test_a_search_asks_a_few_times_at_most(tool: Tool, server: ScriptedServer) -> None:
    nothing = Scripted(body={"widgets": [], "total": 0, "page": 1, "limit": 20})
    server.on("GET", "/api/v1/widgets/search", nothing)
    said = tool.run("search", "one-two-three-four-five-six-seven")
    assert said == Said(0, "", "No widgets found.\n")
    assert len(server.asked) == 6  # The search, the name, and four parts of it.


def test_pages_are_pointed_out(reader: Tool) -> None:
    said = reader.run("search", "--limit", "5", "--page", "2")
    assert (said.out.count("\n"), said.err) == (5, "5 of 20 widgets. More: --page 3\n")
    assert reader.run("search", "no such thing") == Said(0, "", "No widgets found.\n")


def test_info_shows_all_about_a_widget(reader: Tool, service: Service) -> None:
    said = reader.run("info", "@home/weather")
    assert (said.code, said.err) == (0, "")
    for line in (
        "home/weather  Météo",
        "  permissions  network",
        "  latest       2.1.0, published 2026-06-11",
        f"  address      {service.url}/cdn/@home/weather/2.1.0/index.js",
    ):
        assert line in said.out.splitlines()


def test_versions_tell_which_is_latest_and_which_is_yanked(reader: Tool) -> None:
    said = reader.run("versions", "catalog/calendar")
    states = [tuple(line.split("\t")[::4]) for line in said.out.splitlines()]
    assert states[1] == ("2.0.0", "latest")
    assert states[0][1].startswith("yanked: ")
    document = reader.json("versions", "catalog/calendar")
    assert document["latestVersion"] == "2.0.0"
    assert [it["version"] for it in document["versions"]] == [it[0] for it in states]


def test_a_revoked_version_is_not_called_yanked(tool: Tool, server: ScriptedServer) -> None:
    entry = {"bundleUrl": "x", "bundleSize": 1, "sha256Hash": "x", "sdkVersion": "^2.0.0"}
    entry["publishedAt"] = "2026-01-31T09:05:00.000Z"
    gone = {**entry, "yanked": True, "yankedReason": "Steals."}
    body = {
        "widget": {"scope": "a", "name": "b", "displayName": "B"},
        "versions": [{**gone, "version": "2.0.0"}, {**gone, "version": "1.0.0"}],
        "latestVersion": None,
    }
    revoked = {"sha256Hash": "x", "version": "2.0.0", "reason": "Steals.", "at": "now"}
    revocations = [{**revoked, "id": "a/b"}, {**revoked, "id": "c/d", "version": "1.0.0"}]
    server.on("GET", "/api/v1/widgets/a/b", Scripted(body=body))
    listed = Scripted(body={"revision": 1, "revocations": revocations})
    server.on("GET", "/api/v1/widgets/revocations", listed)

    states = [it.split("\t")[4] for it in tool.run("versions", "a/b").out.splitlines()]

    assert states == ["revoked by the operator: Steals.", "yanked: Steals."]
    assert tool.json("versions", "a/b")["revoked"] == {"2.0.0": "Steals."}


def test_a_deprecated_version_is_still_the_latest(tool: Tool, server: ScriptedServer) -> None:
    entry = {"bundleUrl": "x", "bundleSize": 1, "sha256Hash": "x", "sdkVersion": "^2.0.0"}
    entry["publishedAt"] = "2026-01-31T09:05:00.000Z"
    versions = [
        {**entry, "version": "2.0.0", "deprecationMessage": "Use b."},
        {**entry, "version": "1.0.0", "deprecationMessage": "Too old."},
    ]
    head = {"scope": "a", "name": "b", "displayName": "B"}
    body = {"widget": head, "versions": versions, "latestVersion": "2.0.0"}
    server.on("GET", "/api/v1/widgets/a/b", Scripted(body=body))
    states = [it.split("\t")[4] for it in tool.run("versions", "a/b").out.splitlines()]
    assert states == ["latest, deprecated: Use b.", "deprecated: Too old."]


@pytest.mark.parametrize("command", ["info", "versions"])
def test_a_widget_that_is_not_there_has_an_exit_code_of_its_own(reader: Tool, command: str) -> None:
    said = reader.run(command, "labs/dice", "--json")  # It is unlisted, and we are not signed in.
    assert said.code == 9
    assert json.loads(said.out)["hint"] == "Search for it: widget search dice"


def at_terminal(reader: Tool, *arguments: str) -> str:
    """The output of a command at a terminal."""
    controller, terminal = pty.openpty()
    environment = reader.environ({"TERM": "xterm", "COLUMNS": "80"})
    command = reader.command(*arguments)
    started = subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environment)
    started.wait(30)
    os.close(terminal)
    shown = os.read(controller, 65_536).decode()
    os.close(controller)
    return shown


def test_a_terminal_gets_columns(reader: Tool) -> None:
    shown = at_terminal(reader, "versions", "home/weather")
    assert not re.search(r"\x1b\[[34]\d", shown)  # NO_COLOR is set: weight, but no colour.
    lines = [line.rstrip() for line in re.sub(r"\x1b\[\d?m", "", shown).splitlines()]
    assert lines[0].split() == ["version", "published", "SDK", "size", "state"]
    assert lines[1] == "2.1.0    2026-06-11  ^2.1.0  6.0 KiB  latest"
    assert all(len(line) <= 80 for line in lines)


def test_a_terminal_gets_no_headings_over_nothing(reader: Tool) -> None:
    assert at_terminal(reader, "search", "no such thing") == "No widgets found.\r\n"


def test_an_sdk_that_is_no_version_is_wrong_usage(reader: Tool) -> None:
    assert reader.run("search", "--sdk", "2") == Said(
        2,
        "",
        'Error: "2" is not a semantic version: write three numbers, such as 1.0.0.\n'
        "       Pass the SDK version that you use: --sdk 2.1.0\n",
    )


def test_what_a_catalog_says_cannot_command_the_terminal(
    tool: Tool, server: ScriptedServer
) -> None:
    head = {"scope": "a", "name": "b", "displayName": "\x1b]0;owned\x07 [red]x[/red] \u202e\x9b2J"}
    body = {"widget": {**head, "description": "\x1b[2J\r\n\tx"}, "versions": []}
    server.on("GET", "/api/v1/widgets/a/b", Scripted(body=body))
    said = tool.run("info", "a/b")
    assert said.code == 0
    assert "[red]x[/red]" in said.out
    document = tool.run("info", "a/b", "--json").out
    for text in (said.out, document):
        assert not {it for it in text if it in "\x1b\x07\r\t\u202e\x9b"}
    assert json.loads(document) == body
