"""The local server of `widget dev`, which shows a widget and reports changes.

It listens only on the loopback address. Requests of other sites, through DNS rebinding or from
their pages, are rejected.
"""

import contextlib
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from threading import Thread
from urllib.parse import urlsplit

from widget_contract.preview import FRAME_SOURCES, preview_files

from .errors import ToolError
from .trial import LOOK_EVERY_S, Trial

_HOST = "127.0.0.1"
_KEEP_ALIVE_S = 10
_TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "json": "application/json",
}
_PAGE = {"/": "page.html", "/dev.js": "dev.js", "/dev.css": "dev.css"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    f"img-src data:; {FRAME_SOURCES}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    # Not the widget's own files.
    ", script-src *:*/dev.js *:*/preview/; style-src *:*/dev.css *:*/preview/"
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, trial: Trial) -> None:
        super().__init__((_HOST, port), _Handler)
        self.trial = trial
        self.port = int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 30

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if not self._is_from_here(path):
            self._send("text/plain", b"Open this address in your browser.\n", status=403)
        elif path == "/changes":
            self._send_changes()
        elif path == "/state":
            document = json.dumps(self.server.trial.state().document())
            self._send(_TYPES["json"], document.encode())
        elif path in _PAGE:
            content = (resources.files(__package__) / "dev" / _PAGE[path]).read_bytes()
            policy = ("Content-Security-Policy", _POLICY)
            self._send(_type_of(_PAGE[path]), content, policy)
        elif (file := preview_files().get(path.removeprefix("/preview/"))) is not None:
            (_, content_type), *headers = file.headers
            self._send(content_type, file.content, *headers)
        elif (published := self._published(path)) is not None:
            self._send(_type_of(path), published)
        else:
            self._send("text/plain", b"Not found.\n", status=404)

    def _is_from_here(self, path: str) -> bool:
        """Whether the host is the printed one, and the origin is our page or none."""
        names = {f"{_HOST}:{self.server.port}", f"localhost:{self.server.port}"}
        if self.headers.get("Host") not in names:
            return False
        site = self.headers.get("Sec-Fetch-Site", "none")
        return site in ("none", "same-origin") or path == "/"

    def _published(self, path: str) -> bytes | None:
        """`/files/{hash}.js` or `.css`."""
        match path.split("/"):
            case ["", "files", name] if name.endswith((".js", ".css")):
                return self.server.trial.find_file(name.rpartition(".")[0])
        return None

    def _send_changes(self) -> None:
        self._begin("text/event-stream")
        sent, at = -1, time.monotonic()
        with contextlib.suppress(OSError):  # The page was closed.
            while True:
                revision = self.server.trial.state().revision
                if revision != sent or time.monotonic() - at > _KEEP_ALIVE_S:
                    line = f"data: {revision}\n\n" if revision != sent else ": still here\n\n"
                    self.wfile.write(line.encode())
                    self.wfile.flush()
                    sent, at = revision, time.monotonic()
                time.sleep(LOOK_EVERY_S)

    def _begin(self, content_type: str, *headers: tuple[str, str], status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def _send(
        self, content_type: str, body: bytes, *headers: tuple[str, str], status: int = 200
    ) -> None:
        self._begin(content_type, *headers, ("Content-Length", str(len(body))), status=status)
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """No request log."""


def _type_of(name: str) -> str:
    return f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"


@contextlib.contextmanager
def showing(trial: Trial, port: int) -> Iterator[str]:
    """Serve until the block ends; yields the URL. Port 0: any free port."""
    try:
        server = _Server(port, trial)
    except OSError as error:
        raise ToolError(
            f"Cannot listen on port {port}: {error.strerror}.",
            "Choose another with --port, or leave it out.",
        ) from None
    with server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield f"http://{_HOST}:{server.port}/"
        finally:
            server.shutdown()
