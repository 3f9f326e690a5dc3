"""The bare server: our HTTP server exactly as `serve` runs it, with a trivial application.

    python -m bench.bare PORT STATUS BODY_FILE

It shows the cost of the server itself: the difference to the catalog is ours.
"""

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from widget_catalog.app import server
from widget_catalog.core.settings import Settings

_HEADERS = [("content-type", "application/json")]


def bare_app(status: int, body: bytes) -> Any:
    async def with_body(_scope: Any, protocol: Any) -> None:
        protocol.response_bytes(status, _HEADERS, body)

    async def without_body(_scope: Any, protocol: Any) -> None:
        protocol.response_empty(status, _HEADERS)

    return with_body if body else without_body


def main(port: int, status: int, body_file: Path) -> None:
    app = bare_app(status, body_file.read_bytes())
    # The real configuration, because a copy would become outdated.
    settings = Settings(port=port)
    with patch.object(server, "_load", lambda *_, **__: app):
        server.serve(settings, on_ready=lambda: None, read_settings=lambda: settings)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
