"""What `./dev test --quick` leaves out: every test that starts a process, and long ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.slow import LONG_FILES, LONGEST_FILES, WAITING_FILES

TESTS = Path(__file__).parents[1]
QUICK = {
    "catalog/api/test_detail.py",
    "catalog/store/test_widgets.py",
    "contract/test_names.py",
    "docs/test_settings_page.py",
}
SLOW = {
    "accounts/test_secrets_command.py",
    "app/test_stop.py",
    "browser/test_journeys.py",
    "demo/test_demo_widgets_in_browser.py",
    "tool/test_callback_in_browser.py",
    "crash/test_chaos.py",
    "nodes",
    "publishing/test_publish_kill.py",
    "tool/test_publish.py",
    "wire/test_memory.py",
}


@pytest.fixture(scope="module")
def collected() -> list[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not slow"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", *(TESTS / it for it in QUICK | SLOW)],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return [it.removeprefix("tests/") for it in done.stdout.splitlines() if "::" in it]


def test_tests_in_this_process_are_quick(collected: list[str]) -> None:
    assert {it.split("::")[0] for it in collected} == QUICK


def test_stores_are_tested_on_sqlite_alone(collected: list[str]) -> None:
    of_stores = [it for it in collected if it.startswith("catalog/store")]
    assert of_stores
    assert all("[sqlite" in it for it in of_stores)


def test_the_files_listed_as_long_exist() -> None:
    named = (*LONG_FILES, *LONGEST_FILES, *WAITING_FILES)
    assert [it for it in named if not (TESTS / it).exists()] == []
