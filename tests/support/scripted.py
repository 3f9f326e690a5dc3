"""A real HTTP server with scripted responses, including errors."""

import contextlib
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qs


class Scripted(NamedTuple):
    """One response. `dropped`: the connection is closed instead; `delay_s`: it is delayed."""

    status: int = 200
    body: object = None
    headers: dict[str, str] = {}  # noqa: RUF012
    dropped: bool = False
    delay_s: float = 0


DROPPED = Scripted(dropped=True)


class Asked(NamedTuple):
    """A received request."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


class ScriptedServer:
    """`on` sets the responses; the last one of a script is repeated."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.url = ""
        self._scripts: dict[tuple[str, str], list[Scripted]] = {}
        self._lock = Lock()

    def on(self, method: str, path: str, *responses: Scripted) -> None:
        self._scripts[method, path] = list(responses)

    def response_of(self, method: str, path: str) -> Scripted:
        """The next scripted response."""
        return self._scripts[method, path][0]

    def of(self, method: str, path: str) -> list[Asked]:
        return [it for it in self.asked if (it.method, it.path) == (method, path)]

    def response(self, asked: Asked) -> Scripted:
        with self._lock:
            self.asked.append(asked)
            script = self._scripts.get((asked.method, asked.path))
            if script is None:
                return Scripted(404, {"error": f"Nothing is scripted for {asked.path}."})
            return script.pop(0) if len(script) > 1 else script[0]


def _handler(scripted: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _response(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            response = scripted.response(Asked(self.command, path, query, headers, body))
            time.sleep(response.delay_s)
            if response.dropped:
                self.close_connection = True
                return
            sent = response.body
            content = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
            self.send_response(response.status)
            for name, value in {"Content-Type": "application/json", **response.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _response  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextlib.contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(scripted)) as server:
        scripted.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield scripted
        finally:
            server.shutdown()
            thread.join()
