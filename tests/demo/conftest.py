"""Shared by the tests of the demo catalog: its lines.

A test with the fixture `newest` runs once for every widget, with the version published last.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

DEMO_FOLDER = Path(str(files("widget_catalog") / "demo"))


def read_widgets() -> list[dict[str, Any]]:
    text = (DEMO_FOLDER / "catalog.ndjson").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "newest" in metafunc.fixturenames:
        cases = [
            {"scope": widget["scope"], "name": widget["name"]}
            | max(widget["versions"], key=lambda version: version["publishedAt"])
            for widget in read_widgets()
            if widget["versions"]
        ]
        metafunc.parametrize("newest", cases, ids=[f"{it['scope']}/{it['name']}" for it in cases])


@pytest.fixture(scope="session")
def demo_folder() -> Path:
    return DEMO_FOLDER


@pytest.fixture(scope="session")
def widgets() -> list[dict[str, Any]]:
    return read_widgets()
