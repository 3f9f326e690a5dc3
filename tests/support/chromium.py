"""Starts the Chromium of this machine."""

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Frame,
    Page,
    expect,
    sync_playwright,
)

# How long a test waits for a page: the machine may be busy.
TIMEOUT_MS = 60_000
NO_CHROMIUM = (
    "No Chromium found: install it (apt install chromium-headless-shell), or set $CHROMIUM."
)

_STARTER = Path(__file__).parent / "chromium.sh"
# The headless shell first: the same engine without windows, and a third less CPU time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


@contextlib.contextmanager
def running_browser(program: str) -> Iterator[Browser]:
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as driver:
        # The sandbox needs privileges that root and most containers lack; the pages are our own.
        launched = driver.chromium.launch(
            executable_path=_STARTER,
            # The shell isolates sites in processes only if it is told to; Chromium always does.
            args=[
                *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
                "--site-per-process",
            ],
            env={**os.environ, "CHROMIUM_PROGRAM": program},
        )
        yield launched
        launched.close()


class SharedBrowser:
    """One Chromium for all modules of a test process: it takes a second to start, with its driver.

    While the driver's event loop is that of this thread, no other can run here: it is put aside
    when a module ends.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._loop = asyncio.get_running_loop()
        self._put_aside()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[Browser]:
        self.resume()
        try:
            yield self._browser
            for context in self._browser.contexts:
                context.close()
        finally:
            self._put_aside()

    def resume(self) -> None:
        asyncio._set_running_loop(self._loop)

    def _put_aside(self) -> None:
        asyncio._set_running_loop(None)


def wait_until(page: Page | Frame, condition: str) -> None:
    """Until this is true. Playwright's own wait needs eval, which our policies forbid."""
    wait_for_page(page, lambda: page.evaluate(condition), condition)


def wait_for_page(page: Page | Frame, condition: Callable[[], object], message: str = "") -> None:
    """Until this is true. Meanwhile, events of the page are received."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while not condition():
        assert time.monotonic() < deadline, message or "It did not happen in time."
        page.wait_for_timeout(50)


def complaints_of(page: Page) -> list[str]:
    """From now on: what is written to its console, and errors of its scripts. The frame of the
    sandbox tries whether its policy refuses `data:,`, which browsers write there.
    """
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if "data:," not in message.text:
            complaints.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


@contextlib.contextmanager
def quiet_page(
    context: BrowserContext, *origins: str, inline: tuple[str, ...] = ("blob:", "data:")
) -> Iterator[Page]:
    """A page without console errors, which sends requests only to these origins, and loads only
    these schemes in addition.
    """
    page = context.new_page()
    complaints = complaints_of(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    assert complaints == []
    known = (*(f"{it}/" for it in origins), *inline)
    assert [it for it in asked if not it.startswith(known)] == []
