"""`./dev test` and `./dev lint`: what runs, and what determines the exit code."""

import signal

import pytest

from dev.dev_project import DevProject

_PYTEST = """
import os, pathlib, sys
print("pytest", *sys.argv[1:])
project = pathlib.Path(os.environ["PROJECT"])
(project / "tests/__pycache__").mkdir(parents=True, exist_ok=True)
(project / "tests/__pycache__/conftest.pyc").touch()
with (project / "pytest-calls").open("a") as calls:
    print(sys.argv[1], file=calls)
sys.exit(int(os.environ["PYTEST_CODE"]))
"""
_LINTER = '#!/bin/sh\necho "$0 found something"\nexit ${LINT_CODE:-0}\n'


@pytest.fixture
def ready(project: DevProject) -> DevProject:
    """A project that is set up; a linter ends with $LINT_CODE, pytest with $PYTEST_CODE."""
    project.add_program(project.programs / "chromium", "#!/bin/sh\n")
    project.run("test", "-k", "nothing")
    for library in (project.folder / ".venv" / "lib").glob("python*/site-packages"):
        (library / "pytest.py").write_text(_PYTEST)
    for name in ("ruff", "mypy", "lint-imports", "zizmor"):
        project.add_program(project.folder / ".venv" / "bin" / name, _LINTER)
    return project


@pytest.mark.parametrize(
    ("lint", "tests", "said", "code"),
    [
        ("0", "0", ["Lint: passed", "Tests: passed"], 0),
        ("0", "3", ["Lint: passed", "Tests: failed"], 3),
        (
            "1",
            "0",
            ["Lint: failed (ruff check, ruff format, mypy, lint-imports, zizmor)", "Tests: passed"],
            1,
        ),
    ],
)
def test_everything_is_linted_and_tested_and_both_decide(
    ready: DevProject, lint: str, tests: str, said: list[str], code: int
) -> None:
    done = ready.run("test", LINT_CODE=lint, PYTEST_CODE=tests)

    assert done.returncode == code
    assert done.stderr.splitlines()[-2:] == said
    assert "--durations 30" in done.stdout
    assert ("mypy found something" in done.stdout) is (lint == "1")


def test_quick_runs_ruff_and_the_tests_that_are_not_slow(ready: DevProject) -> None:
    done = ready.run("test", "--quick", "-k", "semver", LINT_CODE="1", PYTEST_CODE="0")

    assert done.returncode == 1
    assert done.stdout.splitlines()[-3].endswith("-m not slow -k semver")
    assert done.stderr.splitlines()[-2:] == [
        "Lint: failed (ruff check, ruff format)",
        "Tests: passed",
    ]


def test_a_lane_is_linted_and_runs_its_tests(ready: DevProject) -> None:
    done = ready.run("test", "--lane", "nodes", LINT_CODE="1", PYTEST_CODE="0")
    assert "-m slow and not machine --ignore=tests/browser " in done.stdout
    assert done.stderr.splitlines()[-1] == "Tests: passed"

    done = ready.run("test", "--lane", "fast")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Usage: ./dev test --lane quick|browser|nodes|machine\n"


def test_the_tests_are_compiled_before_several_processes_run_them(ready: DevProject) -> None:
    for _ in range(2):
        assert ready.run("test", PYTEST_CODE="0").returncode == 0

    assert (ready.folder / "pytest-calls").read_text().split() == ["--collect-only", "-n", "-n"]


def test_a_part_of_the_tests_is_not_linted(ready: DevProject) -> None:
    done = ready.run("test", "-k", "semver", LINT_CODE="1", PYTEST_CODE="0")

    assert (done.returncode, done.stdout, done.stderr) == (0, "pytest -k semver\n", "")


def test_lint_alone_says_what_failed(ready: DevProject) -> None:
    done = ready.run("lint", LINT_CODE="1")

    assert done.returncode == 1
    assert done.stderr == "Lint failed: ruff check, ruff format, mypy, lint-imports, zizmor.\n"


def test_a_command_that_is_unknown_shows_the_help(project: DevProject) -> None:
    done = project.run("tests")

    assert done.returncode == 1
    assert done.stderr.startswith("Unknown command: ./dev tests\n\nUsage: ./dev COMMAND")


def test_ctrl_c_ends_what_runs_even_if_it_was_ignored_at_the_start(ready: DevProject) -> None:
    """As with `nohup ./dev test &`, and on some CI runners."""
    ignoring = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    interrupted = ["run", "sh", "-c", "kill -INT $$; echo It was ignored."]
    with ready.start(*interrupted, through=ignoring) as process:
        out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == ("", -signal.SIGINT)
