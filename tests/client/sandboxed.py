"""A page with the sandbox in Chromium, of another origin than the catalog, with a strict policy."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Frame, Page

from client.runtimes import JAVASCRIPT, ClientCatalog
from support.chromium import wait_for_page, wait_until
from support.scripted import Scripted

PAGE_CODE = Path(__file__).with_name("sandbox_page.js")
HTML = """<!doctype html>
<title>Dashboard</title>
<link rel="stylesheet" href="/sandbox.css">
<div id="place"></div>
<script type="module" src="/sandbox-main.js"></script>
"""
CSS = b"#place > div { width: 300px; height: 200px; }\n"
MAIN = """import {{ Catalog }} from "{base}/client/v1/client.js";
import {{ mount }} from "{base}/client/v1/sandbox.js";
import {{ start }} from "/sandbox-page.js";
start({{ Catalog, mount, base: "{base}" }});
"""
# Keeps its context for the test, which plays the widget.
PROBE = """export function mount(element, context) {
  globalThis.context = context;
  element.textContent = Object.keys(context).sort().join(" ");
  return { update(config) { globalThis.updated = config; } };
}"""


@contextlib.contextmanager
def sandboxed_page(catalog: ClientCatalog, browser: Browser) -> Iterator[Page]:
    url, dashboard = catalog.url, catalog.dashboard
    policy = (
        f"default-src 'none'; script-src 'self' {url}; style-src 'self'; frame-src {url}/frame/v1; "
        f"connect-src {url} https:; require-trusted-types-for 'script'"
    )
    html = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    dashboard.on("GET", "/sandboxed", Scripted(200, HTML.encode(), html))
    dashboard.on("GET", "/sandbox.css", Scripted(200, CSS, {"Content-Type": "text/css"}))
    dashboard.on("GET", "/sandbox-page.js", Scripted(200, PAGE_CODE.read_bytes(), JAVASCRIPT))
    main = MAIN.format(base=url).encode()
    dashboard.on("GET", "/sandbox-main.js", Scripted(200, main, JAVASCRIPT))
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(f"{dashboard.url}/sandboxed")
    wait_until(page, "'run' in window")
    yield page
    context.close()


def check_nothing_is_unseen(page: Page) -> None:
    page.evaluate("for (const { widget } of all.values()) widget?.unmount()")
    assert page.evaluate("takeUnseen()") == []


def run(page: Page, name: str, code: str = PROBE, options: str = "{}") -> str:
    """The outcome of mounting this module, with options as an expression."""
    script = f"([name, code]) => run(name, {{ ...bundle(code), ...({options}) }})"
    return str(page.evaluate(script, [name, code]))


def frame_of(page: Page, name: str) -> Frame:
    frame = page.locator(f"#{name} iframe").element_handle().content_frame()
    assert frame is not None
    return frame


def states(page: Page, name: str) -> list[list[str]]:
    found: list[list[str]] = page.evaluate("(name) => of(name).states", name)
    return found


def wait_for_state(page: Page, name: str, state: str, sentence: str) -> None:
    wait_for_page(page, lambda: states(page, name)[-1] == [state, sentence], sentence)
