"""Output of the command: help, versions, pipes, and progress bars only at a terminal."""

import contextlib
import io
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from support.commands import Said, loaded_by, modules_loaded_by, widget_catalog
from support.ending import EndingProcess
from support.folders import filled_folder
from support.service import clean_environment
from support.widgets import ndjson, widget_line
from widget_catalog.app.main import app
from widget_catalog.core import release
from widget_catalog.core.commands import HELP_OPTIONS, build_command

pytestmark = pytest.mark.slow

_COMMANDS = ["serve", "import", "export", "doctor", "stats", "version"]
_HEAVY = {"alembic", "authlib", "granian", "httpx", "jinja2", "numpy", "sqlalchemy", "structlog"}
_OF_A_WORKER = {"authlib", "granian", "httpx", "jinja2", "pydantic", "webauthn"}
_COMMAND = [sys.executable, "-m", "widget_catalog"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = [widget_line(f"acme/w{i}", description="x" * 300) for i in range(3_000)]
    return filled_folder(tmp_path_factory.mktemp("speaking") / "data", *lines)


def test_help_names_every_command_and_the_exit_codes() -> None:
    said = widget_catalog("--help", environment={"COLUMNS": "200"})

    assert (said.code, said.err) == (0, "")
    for command in _COMMANDS:
        assert re.search(rf"\b{command}\b", said.out), command
    assert "Exit codes: 0 success, 1 failure or problems found, 2 usage error." in said.out


def test_the_help_of_every_command_is_for_people() -> None:
    """No types, no braces, no defaults in parentheses; every option that takes a value names it."""
    seen = []
    for path, command in _commands(build_command(app), ["widget-catalog"]):
        shown = _help_of(path, command)
        seen.append(" ".join(path[1:]))
        assert not re.search(r"<\w+>|\{|<=|\[default: \(|None", shown), shown
        assert re.search(r"--help +-h", shown), shown
        for option in command.params:
            assert option.help, (path, option.name)
    assert {*_COMMANDS, "account create", "scope reserve", "version yank"} <= set(seen)


def test_values_and_defaults_are_shown_as_people_write_them() -> None:
    said = widget_catalog("serve", "-h", environment={"COLUMNS": "110"})

    assert (said.code, said.err) == (0, "")
    assert re.search(r"--port +PORT +Port to listen on. \[default: 8080\]", said.out)
    assert re.search(r"--data +FOLDER +", said.out)
    assert "widget-catalog serve --demo" in said.out
    assert "import [OPTIONS] FILE\n" in widget_catalog("import").err


def _commands(command: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    yield path, command
    for name, part in getattr(command, "commands", {}).items():
        yield from _commands(part, [*path, name])


def _help_of(path: list[str], command: Any) -> str:
    context = typer.Context(command, info_name=" ".join(path), help_option_names=HELP_OPTIONS)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        command.get_help(context)
    return shown.getvalue()


def test_the_version_is_printed_both_ways() -> None:
    assert widget_catalog("version") == Said(0, f"{release.VERSION}\n", "")
    assert widget_catalog("--version") == Said(0, f"{release.VERSION}\n", "")


def test_the_version_is_printed_before_anything_is_loaded() -> None:
    assert loaded_by("widget_catalog", "--version") & {"typer", "rich", "msgspec", *_HEAVY} == set()


def test_help_loads_neither_database_nor_server_nor_numbers() -> None:
    """It must be fast: each of these takes longer to load than everything else."""
    assert loaded_by("widget_catalog", "--help") & _HEAVY == set()
    assert loaded_by("widget_catalog", "version") & {"pydantic", *_HEAVY} == set()


def test_what_only_reads_the_database_loads_the_database_alone(data: Path) -> None:
    loaded = modules_loaded_by("widget_catalog", "stats", "--data", str(data))
    assert {it.partition(".")[0] for it in loaded} & {*_OF_A_WORKER, "numpy", "alembic"} == set()
    assert "sqlalchemy.dialects.sqlite" in loaded
    assert "sqlalchemy.dialects.postgresql" not in loaded


@pytest.mark.parametrize(
    "command",
    [["account", "list"], ["export", "-"]],
    ids=" ".join,
)
def test_commands_load_nothing_that_only_a_worker_needs(data: Path, command: list[str]) -> None:
    assert loaded_by("widget_catalog", *command, "--data", str(data)) & _OF_A_WORKER == set()


def test_a_worker_loads_what_sends_requests_only_when_there_is_something_to_send() -> None:
    script = "import sys, widget_catalog.app.worker; print({'httpcore', 'httpx'} & {*sys.modules})"

    assert _printed_by(script) == "set()"


def test_the_collector_runs_rarely_while_a_command_starts_and_more_often_in_a_worker() -> None:
    script = (
        "import gc; usual = gc.get_threshold()[0];"
        "from widget_catalog.__main__ import raise_gc_threshold;"
        "from widget_catalog.app.server import lower_gc_threshold;"
        "raise_gc_threshold(); starting = gc.get_threshold()[0];"
        "lower_gc_threshold(); serving = gc.get_threshold()[0];"
        "print(gc.isenabled(), usual < serving, 10 * serving <= starting)"
    )

    assert _printed_by(script) == "True True True"


def _printed_by(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_wrong_usage_is_reported_on_standard_error_with_code_2() -> None:
    for arguments in (["nonsense"], ["import"], ["serve", "--port", "many"], ["export", "--x"]):
        said = widget_catalog(*arguments)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith("Usage: ")


@pytest.mark.parametrize("command", [["export", "-"], ["stats"]])
def test_a_reader_that_goes_away_ends_it_quietly(data: Path, command: list[str]) -> None:
    """As in `widget-catalog export - | head -1`."""
    with subprocess.Popen(
        [*_COMMAND, *command, "--data", str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        if command[0] == "export":
            assert process.stdout.readline().startswith(b'{"scope":"acme"')
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.parametrize(("command", "is_buffered"), [(["export", "-"], True), (["stats"], False)])
def test_a_full_disk_behind_standard_output_is_reported(
    data: Path, command: list[str], is_buffered: bool
) -> None:
    """As in `widget-catalog export - > file`."""
    environment = clean_environment({"PYTHONUNBUFFERED": "" if is_buffered else "1"})
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*_COMMAND, *command, "--data", str(data)],
            stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False,
        )  # fmt: skip

    assert done.stderr == "Error: The output cannot be written: No space left on device.\n"
    assert done.returncode == 1


def test_with_standard_output_closed_a_command_works_as_usual(data: Path) -> None:
    command = shlex.join([*_COMMAND, "stats", "--data", str(data)])

    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} >&-"],
        stderr=subprocess.PIPE, text=True, env=clean_environment(), check=False,
    )  # fmt: skip

    assert (done.stderr, done.returncode) == ("", 0)


def test_it_can_be_interrupted_and_then_says_little(data: Path) -> None:
    with EndingProcess[bytes](
        [*_COMMAND, "import", "-", "--data", str(data)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=clean_environment(),
    ) as process:
        assert process.stdin is not None
        # More than the pipe's buffer: once it is written, the import is running.
        process.stdin.write(ndjson(*[widget_line(f"new/w{i}") for i in range(1_000)]))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in said
    stats = widget_catalog("stats", "--data", data)
    assert '"widgets":3000,' in stats.out


@pytest.mark.parametrize("command", ["widget_catalog", "widget_cli"])
def test_ctrl_c_while_modules_are_loaded_prints_no_stack_trace(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    done = subprocess.run(
        [sys.executable, "-m", command, "--help"],
        env={**clean_environment(), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_bars_are_shown_at_a_terminal_and_nowhere_else(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.ndjson"
    plain = widget_catalog("export", target, "--data", data)
    assert plain == Said(0, "", f"Wrote 3,000 widgets to {target}.\n")

    shown = _at_a_terminal("export", str(target), "--data", str(data))
    assert "Exporting" in shown
    assert re.search(r"\d+/3000", shown)
    assert f"Wrote 3,000 widgets to {target}." in " ".join(shown.split())

    shown = _at_a_terminal("doctor", "--data", str(data))
    assert "Checking" in shown
    shown = _at_a_terminal("import", str(target), "--data", str(data))
    assert "Importing" in shown
    assert "3,000 versions already there." in " ".join(shown.split())


def _at_a_terminal(*arguments: str) -> str:
    """The output at a terminal, including control sequences."""
    ours, theirs = pty.openpty()
    environment = {**clean_environment(), "TERM": "xterm", "COLUMNS": "200"}
    with subprocess.Popen(
        [*_COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 1 << 16):
                shown += some
        except OSError:
            pass  # On Linux, this means that the other end was closed.
        os.close(ours)
        assert process.wait(60) == 0, shown
    return shown.decode()
