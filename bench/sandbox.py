"""Scenario of the sandbox in a browser: how long a widget takes to start, beside an empty sandboxed
frame and beside a widget without a sandbox in the same run; and 40 widgets on one page.
"""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from typing import Any

from .measures import BenchError, Outcome, at_most
from .publishing import Author, running_with_author
from .rig import Rig

_CHROMIUM = ("chromium-headless-shell", "chromium", "google-chrome")
_OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--site-per-process"]
_EMPTY = b"<!doctype html><script>parent.postMessage(1, '*')</script>"
_MODULE = b"export function mount(element) { element.textContent = 'It runs.'; }"
_ROUNDS = 15
_WIDGETS = 40

_START = """async ([catalog, id, rounds]) => {
  const { Catalog } = await import(`${catalog}/client/v1/client.js`);
  const { mount } = await import(`${catalog}/client/v1/sandbox.js`);
  const client = new Catalog(catalog);
  const place = () => {
    const made = document.body.appendChild(document.createElement("div"));
    made.style.cssText = "width: 200px; height: 150px; float: left";
    return made;
  };
  const empty = () => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.src = "/empty.html";
    addEventListener("message", done, { once: true });
    place().append(frame);
  });
  const options = { sdk: "1.0.0", isCounted: false };
  const starts = {
    empty,
    sandboxed: async () => (await mount(place(), { catalog: client, id, ...options })).unmount,
    plain: async () => (await client.load(id, options)).module.mount(place(), {}),
  };
  const taken = { empty: [], sandboxed: [], plain: [] };
  for (let round = 0; round <= rounds; round++) {
    for (const [name, start] of Object.entries(starts)) {
      const began = performance.now();
      await start();
      if (round > 0) taken[name].push(performance.now() - began); // The first fills caches.
      document.body.replaceChildren();
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  return taken;
}"""
_MANY = """async ([catalog, id, count]) => {
  const { Catalog } = await import(`${catalog}/client/v1/client.js`);
  const { mount } = await import(`${catalog}/client/v1/sandbox.js`);
  const options = { catalog: new Catalog(catalog), id, sdk: "1.0.0", isCounted: false };
  await Promise.all(Array.from({ length: count }, () => {
    const place = document.body.appendChild(document.createElement("div"));
    place.style.cssText = "width: 200px; height: 150px; float: left";
    return mount(place, options);
  }));
  let longest = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  }).observe({ type: "longtask" });
  await new Promise((done) => setTimeout(done, 5_000));
  return longest;
}"""


def sandbox(rig: Rig) -> list[Outcome]:
    with running_with_author(rig) as (catalog, author), _page() as page:
        given = [f"http://127.0.0.1:{catalog.port}", _publish(author)]
        taken = page.evaluate(_START, [*given, _ROUNDS])
        longest = page.evaluate(_MANY, [*given, _WIDGETS])
    empty, sandboxed, plain = (median(taken[it]) for it in ("empty", "sandboxed", "plain"))
    notes = [f"{empty:.0f}, {sandboxed:.0f} and {plain:.0f} ms: empty, sandboxed, without"]
    start = "start of a sandboxed widget"
    return [
        Outcome(start, sandboxed / empty, "of an empty frame", at_most(1.3), notes),
        Outcome(f"{start}, more than without", sandboxed - plain, "ms", at_most(120)),
        Outcome(f"longest task of a page with {_WIDGETS} widgets", longest, "ms", at_most(50)),
    ]


def _publish(author: Author) -> str:
    author.bundle = _MODULE
    author.publish()
    return "author/bench"


@contextmanager
def _page() -> Iterator[Any]:
    """A page of another origin than the catalog's."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if program is None:
        raise BenchError("Chromium is not installed: apt install chromium-headless-shell.")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server, sync_playwright() as driver:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = driver.chromium.launch(executable_path=program, args=_OPTIONS)
        page = browser.new_page()
        page.goto(f"http://localhost:{server.server_port}/")
        yield page
        browser.close()
        server.shutdown()


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = _EMPTY if self.path == "/empty.html" else b"<!doctype html><body>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
