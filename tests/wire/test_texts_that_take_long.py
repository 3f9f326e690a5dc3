"""Texts designed to make a parser slow must not block other requests."""

import asyncio
import contextlib
import json
import math
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, SupportsIndex

import httpx
import pytest

from support.folders import filled_folder
from support.service import Service, running_service
from support.shadow_modules import write_shadow_module
from support.widgets import version_line, widget_line
from widget_catalog.core.errors import Busy
from widget_catalog.core.jobs.bounded_work import BoundedWork
from widget_catalog.pages.bundle_diff import MAX_BYTES, compare_bundles
from widget_catalog.pages.markdown import render_markdown

OTHER = "/api/v1/widgets/acme/other"
# Each short row is padded to a thousand cells.
_TABLE = "|a" * 1_000 + "|\n" + "|-" * 1_000 + "|\n" + "|x\n" * 5_000
# More than may wait.
_EXPENSIVE = 70
HOSTILE = {
    "strings": rb"return /" + rb"\"" * (MAX_BYTES // 2 - 10) + b"/",
    "apostrophes": rb"\'" * (MAX_BYTES // 2),
    "templates": rb"\`" * (MAX_BYTES // 2),
    "comments": b"/* " * (MAX_BYTES // 3),
    "slashes": b"/" * MAX_BYTES,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(_filled(tmp_path_factory), "--workers", "1") as made:
        yield made


def _filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled_folder(
        tmp_path_factory.mktemp("long") / "data",
        widget_line("acme/other"),
        _with_readme("acme/readme", _TABLE),
        _with_readme("acme/short", "Shows *the time*."),
        *(_with_readme(f"evil/w{it}", f"{it} {_TABLE}") for it in range(_EXPENSIVE)),
    )


def _with_readme(key: str, text: str) -> dict[str, Any]:
    manifest = json.dumps({"readme": text})
    return widget_line(key, versions=[version_line("1.0.0", manifest=manifest)])


@contextlib.contextmanager
def asking(service: Service, path: str) -> Iterator[list[httpx.Response]]:
    """While one client requests this; then its response."""
    responses: list[httpx.Response] = []
    asked = threading.Thread(
        target=lambda: responses.append(httpx.get(service.url + path, timeout=240))
    )
    asked.start()
    yield responses
    asked.join()


def test_a_page_of_a_text_that_takes_long_holds_nobody_up(service: Service) -> None:
    with service.client() as others, asking(service, "/widgets/acme/readme") as responses:
        for _ in range(5):
            assert others.get(OTHER).status_code == 200
        assert not responses, "Either others waited for it, or it did not take long."
    assert responses[0].status_code == 200
    assert "|a|a|a" in responses[0].text


def test_a_text_is_rendered_once_however_often_its_widget_is_counted(service: Service) -> None:
    address = "/api/v1/widgets/acme/readme"
    with service.client() as client:
        client.get("/widgets/acme/readme")
        (worker,) = set(service.worker_pids())
        before = _children_of(worker)
        for _ in range(3):
            assert client.post(address).status_code == 200
            assert "|a|a|a" in client.get("/widgets/acme/readme").text
        assert _children_of(worker) == before


def test_abandoned_requests_for_expensive_pages_do_not_hold_up_pages_of_other_scopes(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Each text takes two seconds of CPU time, so all of them take minutes."""
    with running_service(_filled(tmp_path_factory), "--workers", "1") as service:
        for number in range(_EXPENSIVE):
            _ask_and_leave(service.port, f"/widgets/evil/w{number}")
        page = httpx.get(f"{service.url}/widgets/acme/short", timeout=60)
        busy = httpx.get(f"{service.url}/widgets/evil/w{_EXPENSIVE - 1}", timeout=60)

    assert (page.status_code, busy.status_code) == (200, 200)
    assert "Shows <em>the time</em>." in page.text
    assert "|a|a|a" in busy.text
    assert page.elapsed.total_seconds() < 30


def _ask_and_leave(port: int, path: str) -> None:
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        time.sleep(0.01)


def _children_of(pid: int) -> set[str]:
    """Includes ended ones until they are waited for."""
    return {it.read_text() for it in Path(f"/proc/{pid}/task").glob("*/children")}


def test_work_that_would_take_too_much_is_ended_and_the_next_is_done() -> None:
    """Both hold the interpreter in a single call."""

    async def ask(work: Callable[[int], object], *numbers: int) -> list[object]:
        bounded = BoundedWork(work)
        return [await bounded.ask(it, "acme") for it in numbers]

    assert asyncio.run(ask(math.factorial, 5, 10**9, 4)) == [120, None, 24]
    assert asyncio.run(ask(bytes, 1, 1 << 40, 2)) == [b"\0", None, b"\0\0"]


def test_a_text_that_was_too_expensive_is_not_processed_again() -> None:
    async def ask_twice() -> list[float]:
        bounded = BoundedWork(math.factorial)
        took = []
        for _ in range(2):
            before = time.monotonic()
            assert await bounded.ask(10**9, "acme") is None
            took.append(time.monotonic() - before)
        return took

    first, second = asyncio.run(ask_twice())
    assert first > 1
    assert second < first / 2


def test_a_text_that_many_ask_for_is_processed_once() -> None:
    async def ask_at_once() -> list[int | None]:
        bounded = BoundedWork(math.factorial)
        return list(await asyncio.gather(*(bounded.ask(10**9, "acme") for _ in range(100))))

    before = time.monotonic()
    assert asyncio.run(ask_at_once()) == [None] * 100
    assert time.monotonic() - before < 30


def test_the_work_of_one_scope_is_bounded_and_others_take_turns_with_it() -> None:
    done: list[str] = []

    async def ask(bounded: BoundedWork[SupportsIndex, int], number: int, scope: str) -> None:
        try:
            await bounded.ask(number, scope)
            done.append(scope)
        except Busy:
            done.append("busy")

    async def ask_all() -> None:
        bounded = BoundedWork(math.factorial)
        asked = [ask(bounded, number, "evil") for number in range(30)]
        await asyncio.gather(*asked, ask(bounded, 100, "acme"))

    asyncio.run(ask_all())
    # One runs and sixteen wait.
    assert done[:13] == ["busy"] * 13
    assert done[13:] == ["evil", "acme", *["evil"] * 16]


def test_work_that_nobody_waits_for_any_more_leaves_the_queue() -> None:
    async def ask_all() -> list[str]:
        bounded = BoundedWork(subprocess.getoutput)
        asked = [bounded.ask(f"sleep {number}", "evil") for number in (7.0, 7.1, 7.2)]
        done = await asyncio.gather(*asked, return_exceptions=True)
        return [type(it).__name__ for it in done]

    before = time.monotonic()
    assert asyncio.run(ask_all()) == ["str", "Busy", "Busy"]
    assert time.monotonic() - before < 14


@pytest.mark.parametrize("text", ["![a" * 20_000, "[" * 60_000, "![a" * 9_000 + "]" * 9_000])
def test_brackets_are_rendered_in_a_fraction_of_the_limit(text: str) -> None:
    before = time.process_time()
    html = render_markdown((text, 20_000))
    assert time.process_time() - before < 1
    assert text[:100] in html


@pytest.mark.parametrize("name", HOSTILE)
def test_bundles_are_broken_into_lines_in_one_pass(name: str) -> None:
    """Previously, half an hour would not have been enough."""
    diff = compare_bundles(HOSTILE[name], HOSTILE[name][:-1])
    assert diff.is_broken_up


def test_a_child_process_runs_no_file_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = write_shadow_module(tmp_path, "resource")
    monkeypatch.chdir(tmp_path)

    assert asyncio.run(BoundedWork[list[int], int](sum).ask([1, 2], "acme")) == 3
    assert not created.exists()
