"""Hints, by which a widget lets the browser connect to another host without a request.

The headless shell connects for few of them; a full Chromium ($CHROMIUM) does for all.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from pages.hostile_widgets import HINT, HINTS
from pages.listener import Listener
from pages.previewed_widgets import publish_modules
from pages.test_preview_in_browser import opened, status
from support.service import Service, running_service

ENDED = "The widget told the browser to connect to another host, so it was ended."
# The first version of Chromium that knows the header.
CONNECTION_ALLOWLIST = 152


@pytest.fixture(scope="module")
def evil() -> Iterator[Listener]:
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, evil: Listener) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("hints") / "data"
    modules = {name: (HINT % way).replace("{evil}", evil.url) for name, way in HINTS.items()}
    publish_modules(data, modules, {})
    with running_service(data) as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="en-GB")
    yield made
    made.close()


@pytest.mark.parametrize("way", HINTS)
def test_a_widget_that_adds_a_hint_is_ended_and_connects_to_nobody(
    context: BrowserContext, service: Service, evil: Listener, way: str
) -> None:
    evil.heard.clear()
    page = opened(context, service, f"sample/{way}/1.0.0")
    expect(status(page)).to_have_text(ENDED)
    expect(page.locator("iframe")).to_have_count(0)
    page.wait_for_timeout(1_500)
    if _knows_connection_allowlist(context):
        assert evil.heard == []
    assert b"".join(evil.heard) == b""


def _knows_connection_allowlist(context: BrowserContext) -> bool:
    browser = context.browser
    return browser is not None and int(browser.version.partition(".")[0]) >= CONNECTION_ALLOWLIST
