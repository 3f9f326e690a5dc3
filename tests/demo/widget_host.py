"""A dashboard for one demo widget, on a page with a strict Content-Security-Policy."""

import re
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page

from widget_contract.preview import preview_files

Version = dict[str, Any]

CELL_PX = 96
NOW = "2026-03-14T09:26:53Z"
HOST_PAGE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title>
<link rel="icon" href="data:,"><div id="place"></div></html>"""
POLICY = "default-src 'none'; script-src 'self'; img-src data: blob:; base-uri 'none'"

# Counts running timers, to check that a widget stops its own.
TIMER_COUNT = """
window.runningTimers = new Set();
for (const kind of ["Interval", "Timeout"]) {
  const start = window[`set${kind}`].bind(window);
  const stop = window[`clear${kind}`].bind(window);
  window[`set${kind}`] = (run, ...rest) => {
    const id = start((...args) => {
      if (kind === "Timeout") runningTimers.delete(id);
      run(...args);
    }, ...rest);
    runningTimers.add(id);
    return id;
  };
  window[`clear${kind}`] = (id) => { runningTimers.delete(id); stop(id); };
}
"""

MOUNT = """
async ({ bundle, width, height, now, hasContext, config, data }) => {
  const { sampleHost } = await import("/sample-host.js");
  const module = await import(`/${bundle}`);
  const place = document.querySelector("#place");
  Object.assign(place.style, { width: `${width}px`, height: `${height}px` });
  window.sample ??= sampleHost({ now: () => new Date(now), live: false });
  const kept = sample.storage;
  const storage = { get: (key) => kept.all()[key], set: kept.set };
  const own = { storage, locale: "en-GB", config, data: { ...sample.data, ...data } };
  const context = { ...sample, ...own, ...window.home };
  window.widget = hasContext ? module.mount(place, context) : module.mount(place);
  return module.manifest;
}
"""

# A pretended home: it notes every call, and refuses those of the shelf.
HOME = """
() => {
  const things = { "light.desk": "off", "light.shelf": "on", "lock.front_door": "locked" };
  const listeners = new Set();
  const states = async (pattern) =>
    Object.entries(things).map(([entity, state]) => ({ entity, state }))
      .filter((it) => it.entity.startsWith(pattern.replace("*", "")));
  window.calls = [];
  window.home = {
    states,
    watchStates(pattern, listener) {
      const tell = async () => listener(await states(pattern));
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    async call(service, { entity }) {
      calls.push([service, entity]);
      if (entity === "light.shelf") throw new Error("The shelf does not answer.");
      const results = { turn_on: "on", turn_off: "off", lock: "locked", unlock: "unlocked" };
      things[entity] = results[service.split(".")[1]];
      for (const tell of listeners) tell();
    },
    async fetchImage(url) {
      if (url.includes("missing")) throw new Error("There is no such picture.");
      const canvas = new OffscreenCanvas(4, 3);
      canvas.getContext("2d");
      return canvas.convertToBlob();
    },
  };
  window.listening = () => listeners.size;
}
"""


LOOK = """
(scheme) => {
  const place = document.querySelector("#place");
  place.style.colorScheme = scheme;
  const style = getComputedStyle(place.firstElementChild);
  return [style.color, style.backgroundColor];
}
"""


class DemoHandler(SimpleHTTPRequestHandler):
    """The demo folder, one empty page to host a widget, and its context."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript"}

    def do_GET(self) -> None:
        if self.path == "/":
            self._send(HOST_PAGE, "text/html; charset=utf-8")
        elif self.path == "/sample-host.js":
            self._send(preview_files()["sample-host.js"].content, "text/javascript")
        else:
            super().do_GET()

    def _send(self, body: bytes, content_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Silent: the test reports errors."""


@dataclass
class Host:
    """A dashboard with one widget, and a record of all errors."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def mount(
        self,
        version: Version,
        *,
        config: dict[str, Any] | None = None,
        data: dict[str, Any] | None = None,
        has_context: bool = True,
        now: str = NOW,
    ) -> dict[str, Any]:
        manifest: dict[str, Any] = self.page.evaluate(
            MOUNT,
            {
                "bundle": version["bundleFile"],
                "width": version["minSize"]["w"] * CELL_PX,
                "height": version["minSize"]["h"] * CELL_PX,
                "now": now,
                "hasContext": has_context,
                "config": config or {},
                "data": data or {},
            },
        )
        return manifest

    def unmount(self) -> None:
        self.page.evaluate("widget.unmount()")

    @property
    def widget(self) -> Locator:
        """The widget's outermost element: a group with an accessible name."""
        return self.page.get_by_role("group", name=re.compile(r"\S")).first

    @property
    def child_count(self) -> int:
        count: int = self.page.evaluate("document.querySelector('#place').childNodes.length")
        return count

    def note_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)
