"""The site of a dashboard: files of a folder, a plan, the results that its page sends, and a host
of its own for each attack, which counts connections.
"""

import json
import threading
from collections.abc import Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.parse import unquote

from pages.listener import Listener


class PageServer:
    def __init__(self, folder: Path, plan: Mapping[str, object], policy: str) -> None:
        self.results: Queue[Any] = Queue()
        self.canaries: dict[str, Listener] = {}
        handler = partial(_Handler, self, json.dumps(plan).encode(), policy, directory=str(folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        # Another site than that of the catalog, whose host is 127.0.0.1.
        self.url = f"http://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for canary in self.canaries.values():
            canary.close()


class _Handler(SimpleHTTPRequestHandler):
    def __init__(
        self, site: PageServer, plan: bytes, policy: str, *rest: Any, directory: str
    ) -> None:
        self._site, self._plan, self._policy = site, plan, policy
        super().__init__(*rest, directory=directory)

    def end_headers(self) -> None:
        self.send_header("content-security-policy", self._policy)
        super().end_headers()

    def do_GET(self) -> None:
        path, _, name = self.path.partition("?")
        if path == "/plan.json":
            self._send(self._plan)
        elif path == "/canary":
            canary = self._site.canaries[unquote(name)] = Listener()
            self._send(json.dumps(canary.url).encode())
        else:
            super().do_GET()

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self._site.results.put(json.loads(body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass
