"""A tiny web server on this machine that waits for the browser to come back from sign-in."""

import contextlib
import html
import queue
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from .errors import ToolError
from .exits import ExitCode

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 20vh auto 0;
    padding: 0 1rem; }}
</style>
<h1>{title}</h1>
<p>{text}</p>
"""


class Callback:
    """What comes back: a code, or why there is none. `state` tells it from anybody else's."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._results: queue.Queue[dict[str, str]] = queue.Queue()
        self.redirect_uri = ""

    def take(self, query: str) -> tuple[int, str, str]:
        """Look at what a browser brings; gives the status, title and text of a page for it."""
        fields = {name: values[0] for name, values in parse_qs(query).items()}
        if fields.get("state") != self._state:
            return 400, "This is not the sign-in we wait for", "Go back to your terminal."
        self._results.put(fields)
        if "code" in fields:
            return 200, "You are signed in", "You may close this window."
        return 200, "You are not signed in", "Nothing was changed. You may close this window."

    def wait(self, timeout_s: float) -> str:
        """The code, when it comes."""
        try:
            fields = self._results.get(timeout=timeout_s)
        except queue.Empty:
            raise ToolError(
                f"Nobody signed in within {timeout_s / 60:.0f} minutes.",
                "Try again; without a browser on this machine, use: widget login --device",
                ExitCode.NOT_SIGNED_IN,
            ) from None
        if "code" not in fields:
            reason = fields.get("error_description") or fields.get("error") or "no reason was given"
            raise ToolError(
                f"The sign-in was not completed: {reason}",
                "Try again: widget login",
                ExitCode.NOT_SIGNED_IN,
            )
        return fields["code"]


@contextlib.contextmanager
def waiting_for_browser(state: str) -> Iterator[Callback]:
    """Listen on a free port of the loopback address until the block ends."""
    callback = Callback(state)

    class Handler(BaseHTTPRequestHandler):
        timeout = 30

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/callback":
                self._show(*callback.take(parts.query))
            else:
                self._show(404, "There is nothing here", "Go back to your terminal.")

        def _show(self, status: int, title: str, text: str) -> None:
            page = _PAGE.format(title=html.escape(title), text=html.escape(text)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
            self.send_header("Content-Security-Policy", policy)
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_: object) -> None:
            """Say nothing: the address holds the code."""

    # Browsers open connections ahead of need and send nothing on them, so one thread would hang.
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        callback.redirect_uri = f"http://127.0.0.1:{server.server_address[1]}/callback"
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield callback
        finally:
            server.shutdown()
