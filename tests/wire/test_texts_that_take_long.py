"""Texts designed to make a parser slow must not block other requests."""

import asyncio
import contextlib
import json
import math
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from support.decoys import write_decoy
from support.folders import filled_folder
from support.service import Service, running_service
from support.widgets import version_line, widget_line
from widget_catalog.bounded_work import BoundedWork
from widget_catalog.web.pages.public.bundle_diff import MAX_BYTES, compare_bundles

OTHER = "/api/v1/widgets/acme/other"
# Each may start a link, whose end is searched for in the rest of the text.
MANIFEST = json.dumps({"readme": "[" * 60_000})
HOSTILE = {
    "strings": rb"return /" + rb"\"" * (MAX_BYTES // 2 - 10) + b"/",
    "apostrophes": rb"\'" * (MAX_BYTES // 2),
    "templates": rb"\`" * (MAX_BYTES // 2),
    "comments": b"/* " * (MAX_BYTES // 3),
    "slashes": b"/" * MAX_BYTES,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = filled_folder(
        tmp_path_factory.mktemp("long") / "data",
        widget_line("acme/other"),
        widget_line("acme/readme", versions=[version_line("1.0.0", manifest=MANIFEST)]),
    )
    with running_service(data, "--workers", "1") as made:
        yield made


@contextlib.contextmanager
def asking(service: Service, path: str) -> Iterator[list[httpx.Response]]:
    """While one client requests this; then its response."""
    answers: list[httpx.Response] = []
    asked = threading.Thread(
        target=lambda: answers.append(httpx.get(service.url + path, timeout=240))
    )
    asked.start()
    yield answers
    asked.join()


def test_a_page_of_a_text_that_takes_long_holds_nobody_up(service: Service) -> None:
    with service.client() as others, asking(service, "/widgets/acme/readme") as answers:
        for _ in range(5):
            assert others.get(OTHER).status_code == 200
        assert not answers, "Either others waited for it, or it did not take long."
    assert answers[0].status_code == 200
    assert "[[[[" in answers[0].text


def test_a_text_is_rendered_once_however_often_its_widget_is_counted(service: Service) -> None:
    address = "/api/v1/widgets/acme/readme"
    with service.client() as client:
        client.get("/widgets/acme/readme")
        (worker,) = set(service.worker_pids())
        before = _children_of(worker)
        for _ in range(3):
            assert client.post(address).status_code == 200
            assert "[[[[" in client.get("/widgets/acme/readme").text
        assert _children_of(worker) == before


def _children_of(pid: int) -> set[str]:
    """Includes ended ones until they are waited for."""
    return {it.read_text() for it in Path(f"/proc/{pid}/task").glob("*/children")}


def test_work_that_would_take_too_much_is_ended_and_the_next_is_done() -> None:
    """Both hold the interpreter in a single call."""

    async def ask(work: Callable[[int], object], *numbers: int) -> list[object]:
        bounded = BoundedWork(work)
        return [await bounded.ask(it) for it in numbers]

    assert asyncio.run(ask(math.factorial, 5, 10**9, 4)) == [120, None, 24]
    assert asyncio.run(ask(bytes, 1, 1 << 40, 2)) == [b"\0", None, b"\0\0"]


@pytest.mark.parametrize("name", HOSTILE)
def test_bundles_are_broken_into_lines_in_one_pass(name: str) -> None:
    """Previously, half an hour would not have been enough."""
    diff = compare_bundles(HOSTILE[name], HOSTILE[name][:-1])
    assert diff.is_broken_up


def test_a_child_process_runs_no_file_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = write_decoy(tmp_path, "resource")
    monkeypatch.chdir(tmp_path)

    assert asyncio.run(BoundedWork[list[int], int](sum).ask([1, 2])) == 3
    assert not created.exists()
