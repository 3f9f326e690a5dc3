"""The real service for a browser: with the demo catalog, and with people who sign in."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.demo import examples_folder, import_demo
from support.folders import copy_folder
from support.passwords import quick_passwords
from support.run_folder import made_once
from support.service import Service, running_service
from support.site_with_people import build_people
from widget_catalog.catalog.node.node import open_node


@pytest.fixture(scope="module")
def demo_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = examples_folder(tmp_path_factory.mktemp("demo") / "data")
    with running_service(data, "--demo") as service:
        yield service


@pytest.fixture(scope="module")
def people_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The people, the demo catalog and a dashboard."""
    folder = tmp_path_factory.mktemp("people") / "data"
    # In a separate thread, because Playwright runs an event loop in this one.
    with ThreadPoolExecutor(1) as threads:
        copy_folder(threads.submit(made_once, "people-with-demo", _build).result(), folder)
    with running_service(folder, "--set", "dashboard=true") as running:
        yield running


def _build(folder: Path) -> None:
    with quick_passwords():
        build_people(folder)
    node = open_node(folder)
    import_demo(node, into_owned=True)
    node.store.close()
