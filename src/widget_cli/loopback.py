"""Local web servers on the loopback address, and the one that receives the browser's redirect after
sign-in.
"""

import base64
import contextlib
import functools
import hashlib
import html
import queue
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from threading import Thread
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from .errors import sign_in_needed

HOST = "127.0.0.1"
_DENIED = "access_denied"
_SIGNS = {"good": "M4.5 12.5l5 5 10-11", "bad": "M6 6l12 12M18 6L6 18"}


class Page(NamedTuple):
    """The page shown in the browser."""

    status: int
    title: str
    text: str

    def html(self) -> str:
        kind = "good" if self.status == 200 else "bad"
        filled = {"KIND": kind, "SIGN": _SIGNS[kind], "TITLE": self.title, "TEXT": self.text}
        pattern = "|".join(filled)
        return re.sub(pattern, lambda found: html.escape(filled[found[0]]), _template())


class Callback:
    """The result of the redirect: a code, or an error. `state` must match our request."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._results: queue.Queue[dict[str, str]] = queue.Queue()
        self.redirect_uri = ""

    @contextlib.contextmanager
    def responding(self, query: str) -> Iterator[Page]:
        """The page for a redirect; `wait` returns after the page was sent.

        The program may exit as soon as `wait` returns, so the page must be sent before.
        """
        fields = {name: values[0] for name, values in parse_qs(query).items()}
        if fields.get("state") != self._state:
            yield Page(
                400, "This is a different sign-in", "It is not the one that widget is waiting for."
            )
            return
        try:
            yield self._page(fields)
        finally:
            self._results.put(fields)

    def _page(self, fields: dict[str, str]) -> Page:
        if "code" in fields:
            able = "widget is completing the sign-in on this machine."
            return Page(200, "Sign-in approved", able)
        if fields.get("error") == _DENIED:
            return Page(
                403, "You are not signed in", "You denied the request. Nothing was changed."
            )
        reason = fields.get("error_description") or "The sign-in was denied or failed."
        return Page(403, "You are not signed in", f"{reason} Nothing was changed.")

    def wait(self, timeout_s: float, command: str = "widget login") -> str:
        """Wait for the code. `command` restarts the sign-in, for the hint."""
        try:
            fields = self._results.get(timeout=timeout_s)
        except queue.Empty:
            raise sign_in_needed(
                f"The sign-in was not completed within {timeout_s / 60:.0f} minutes.",
                f"Try again. If this machine has no browser, use: {command} --device",
            ) from None
        if "code" not in fields:
            reason = fields.get("error_description") or fields.get("error") or "no reason was given"
            if fields.get("error") == _DENIED:
                reason = "you denied it in the browser."
            raise sign_in_needed(
                f"The sign-in was not completed: {reason}", f"Try again: {command}"
            )
        return fields["code"]


class LocalHandler(BaseHTTPRequestHandler):
    timeout = 30

    def begin(self, content_type: str, *headers: tuple[str, str], status: int = 200) -> None:
        """Send the status and these headers."""
        self.send_response(status)
        usual = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))
        closing = ("Connection", "close")
        for name, value in (("Content-Type", content_type), *usual, *headers, closing):
            self.send_header(name, value)
        self.end_headers()

    def respond(
        self, content_type: str, body: bytes, *headers: tuple[str, str], status: int = 200
    ) -> None:
        self.begin(content_type, *headers, ("Content-Length", str(len(body))), status=status)
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """No log: URLs may contain the code of a sign-in."""


@contextlib.contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[int]:
    """Serve in a thread until the block ends; yields the port."""
    with server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield int(server.server_address[1])
        finally:
            server.shutdown()


@contextlib.contextmanager
def waiting_for_browser(state: str) -> Iterator[Callback]:
    """Listen on a free port of the loopback address until the block ends."""
    callback = Callback(state)

    class Handler(LocalHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/callback":
                with callback.responding(parts.query) as page:
                    self._show(page)
            else:
                self._show(Page(404, "Page not found", "widget is waiting at a different address."))

        def _show(self, page: Page) -> None:
            headers = (("Referrer-Policy", "no-referrer"), ("Content-Security-Policy", _policy()))
            body = page.html().encode()
            self.respond("text/html; charset=utf-8", body, *headers, status=page.status)

    # Browsers preconnect without sending a request, which would block a single thread.
    with serving(ThreadingHTTPServer((HOST, 0), Handler)) as port:
        callback.redirect_uri = f"http://{HOST}:{port}/callback"
        yield callback


@functools.cache
def _template() -> str:
    return (resources.files(__package__) / "callback.html").read_text(encoding="utf-8")


def _policy() -> str:
    """Nothing may be loaded; only the inline style sheet is allowed."""
    style = _template().partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
