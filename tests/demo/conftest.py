"""Shared by the tests of the demo catalog: its lines.

A test with the fixture `version` runs once for every published version; one with `newest` runs
once for every widget, with the version published last.
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
