"""What the tests of the demo catalog share: its lines, and a browser to open its widgets in.

A test that asks for `version` runs once for every published version; one that asks for
`newest` runs once for every widget, with the version published last.
"""

import json
import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

DEMO_FOLDER = Path(str(files("widget_catalog") / "demo"))


def read_widgets() -> list[dict[str, Any]]:
    text = (DEMO_FOLDER / "catalog.ndjson").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for wanted in {"version", "newest"} & set(metafunc.fixturenames):
        cases = []
        for widget in read_widgets():
            identity = {"scope": widget["scope"], "name": widget["name"]}
            by_time = sorted(widget["versions"], key=lambda version: version["publishedAt"])
            chosen = by_time if wanted == "version" else by_time[-1:]
            cases += [identity | version for version in chosen]
        names = [f"{case['scope']}/{case['name']}@{case['version']}" for case in cases]
        metafunc.parametrize(wanted, cases, ids=names)


@pytest.fixture(scope="session")
def demo_folder() -> Path:
    return DEMO_FOLDER


@pytest.fixture(scope="session")
def widgets() -> list[dict[str, Any]]:
    return read_widgets()


@pytest.fixture(scope="session")
def playwright_driver() -> Iterator[Playwright]:
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def chromium_path(playwright_driver: Playwright) -> str:
    """$CHROMIUM, else the system's browser, else the one playwright brings. Never skips."""
    named = os.environ.get("CHROMIUM")
    if named:
        if not Path(named).is_file():
            pytest.fail(f"$CHROMIUM says {named}, but there is no such file.")
        return named
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    bundled = playwright_driver.chromium.executable_path
    if Path(bundled).is_file():
        return bundled
    pytest.fail(
        "No Chromium found: install the system's package (apt install chromium), run "
        "'playwright install chromium', or set $CHROMIUM to the path of one."
    )


@pytest.fixture(scope="session")
def chromium(playwright_driver: Playwright, chromium_path: str) -> Iterator[Browser]:
    # The sandbox needs rights that root and most containers lack; the pages are our own.
    browser = playwright_driver.chromium.launch(
        executable_path=chromium_path, args=["--no-sandbox", "--disable-dev-shm-usage"]
    )
    yield browser
    browser.close()
