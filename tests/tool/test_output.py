"""Output of the tool: help, exit codes, closed pipes, and terminals without Unicode."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from support.commands import loaded_by
from support.scripted import Scripted, ScriptedServer
from tool.tool import Tool
from widget_cli import VERSION
from widget_cli.errors import ExitCode
from widget_cli.main import app

_COMMANDS = """init validate publish yank unyank deprecate undeprecate unlist list search info
    versions login logout whoami account tokens org""".split()


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def test_help_names_every_command_and_every_exit_code(tool: Tool) -> None:
    said = tool.run("--help", environment={"COLUMNS": "400"})
    assert (said.code, said.err) == (0, "")
    for command in _COMMANDS:
        assert re.search(rf"\b{command}\b", said.out), command
    for code in ExitCode:
        assert f"{code.value} {code.meaning}" in said.out


def test_every_command_has_help_that_fits_80_columns_and_speaks_json() -> None:
    for command in _COMMANDS:
        shown = CliRunner().invoke(app, [command, "-h"], env={"COLUMNS": "80"})
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert all(len(line) <= 80 for line in shown.output.splitlines())
        assert "--json" in shown.output or command in ("account", "tokens", "org")


def test_the_release_is_printed(tool: Tool) -> None:
    assert tool.run("--version").out == f"{VERSION}\n"


@pytest.mark.slow
def test_help_and_version_load_no_network_and_no_parser() -> None:
    """They must be fast: each of these takes longer to load than everything else."""
    heavy = {"httpx", "ssl", "http", "tree_sitter", "pydantic"}
    assert loaded_by("widget_cli", "--version") & {"typer", "rich", "msgspec", *heavy} == set()
    assert loaded_by("widget_cli", "--help") & heavy == set()


@pytest.mark.slow
def test_values_are_converted_without_pydantic(tmp_path: Path) -> None:
    begun = ("init", str(tmp_path / "clock"), "--scope", "ann")
    assert loaded_by("widget_cli", *begun) & {"pydantic", "httpx"} == set()
    assert (tmp_path / "clock" / "widget.json").exists()


def commands(group: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command, and every command group."""
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *path, name)


def test_help_speaks_of_no_types() -> None:
    for path in [*commands(typer.main.get_command(app))]:
        shown = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": "100"}).output
        assert f"Usage: widget {' '.join(path)}".strip() in shown
        assert not re.search(r"<\w+|list\[|default: \(|\{|int range|None|[<>]=", shown)


def test_without_a_catalog_the_way_to_one_is_reported(tool: Tool) -> None:
    said = tool.run("search", "x")
    assert (said.code, said.out) == (2, "")
    assert "Sign in with: widget login URL" in said.err


def test_an_address_that_is_none_is_reported(tool: Tool) -> None:
    """`test_addresses.py` has every kind."""
    said = tool.run("search", "--catalog", "ftp://x")
    assert said.code == 2
    assert "is not a valid catalog URL" in said.err


def test_a_terminal_without_unicode_gets_what_it_can_show(tool: Tool) -> None:
    said = tool.run("init", "uhr", environment={"PYTHONIOENCODING": "ascii"})
    assert said.code == 0
    (tool.home / "uhr" / "widget.json").write_text('{"name": "ü…"}')
    said = tool.run("validate", "uhr", environment={"PYTHONIOENCODING": "ascii"})
    assert said.code == 5


def test_a_pipe_that_ends_early_is_no_stack_trace(tool: Tool) -> None:
    command = f"{' '.join(tool.command('org', '--help'))} | true"
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, env=tool.environ(), check=False
    )
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [("validate clock", "1"), ("validate none --json", ""), ("--help", "")],
)
def test_a_full_disk_behind_standard_output_is_a_sentence(
    tool: Tool, arguments: str, unbuffered: str
) -> None:
    tool.begin("clock")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            tool.command(*arguments.split()),
            stdout=full,
            stderr=subprocess.PIPE,
            env=tool.environ({"PYTHONUNBUFFERED": unbuffered}),
            cwd=tool.home,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.decode().endswith(
        "Error: Cannot write to standard output: No space left on device.\n"
        "       Free some space, or redirect the output elsewhere.\n"
    )
    assert b"Traceback" not in done.stderr
    assert b"fault" not in done.stderr


def test_a_reader_that_has_enough_is_left_in_peace(tool: Tool, server: ScriptedServer) -> None:
    entry = {"scope": "ann", "name": "clock", "displayName": "x" * 1000}
    found = {"widgets": [entry] * 200, "total": 200, "page": 1, "limit": 200}
    server.on("GET", "/api/v1/widgets/search", Scripted(body=found))
    for arguments in (("search", "x"), ("search", "x", "--json")):
        command = f"{' '.join(tool.command(*arguments, '--catalog', server.url))} | head -1"
        done = subprocess.run(
            ["/bin/sh", "-c", command], capture_output=True, env=tool.environ(), check=False
        )
        assert done.stdout.count(b"\n") == 1
        assert done.stderr == b""


def test_a_standard_output_that_is_closed_hinders_nothing(tool: Tool) -> None:
    tool.begin("clock")
    for arguments in (("validate", "clock"), ("validate", "clock", "--json")):
        command = f"{' '.join(tool.command(*arguments))} >&-"
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            capture_output=True,
            env=tool.environ(),
            cwd=tool.home,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")


def test_a_folders_name_is_no_command_to_a_ci(tool: Tool) -> None:
    names = (
        "a\n::error::one",
        "::error::two",
        "##[error]three",
        "b\r\x1b[0Ksection_start:1:x\u202e",
    )
    for name in names:
        (tool.home / name).mkdir()
        (tool.home / name / "widget.json").write_text("{}")
    said = tool.run("validate", "--all")
    lines = (said.out + said.err).splitlines()
    assert not [it for it in lines if it.strip().startswith("::") or "##[" in it]
    assert re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", said.out + said.err) is None
    assert "run: widget validate 'a\\n::error::one'\n" in said.err
    as_json = tool.run("validate", "--all", "--json").out
    assert "##[" not in as_json
    assert {it["folder"] for it in json.loads(as_json)["widgets"]} == set(names)


def test_no_escape_sequence_of_others_reaches_a_terminal(tool: Tool) -> None:
    """Even where a text was not escaped; our own colors do."""
    code = (
        "from widget_cli.console import say\n"
        "say._force_terminal = True\n"
        r"say.print('[bold]a[/] b\x1b]0;title\x07\r\u202ec' + '\n' + 'd')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        env=tool.environ() | {"TERM": "xterm", "FORCE_COLOR": "1"},
        check=True,
    )
    shown = done.stderr.decode()
    assert shown.startswith("\x1b[1ma\x1b[0m b\\x1b]0;title")
    assert re.search("[\x00-\x09\x0b-\x1a\x1c-\x1f\u202e]", shown) is None
    assert shown.endswith("\nd\n")
