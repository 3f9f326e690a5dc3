"""Event streams under ASGI, as another server would run them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.asgi import AsgiClient, Message
from support.folders import filled_folder
from support.widgets import widget_line
from widget_catalog.app.worker import build_worker
from widget_catalog.core.http.bindings.asgi import AsgiApp
from widget_catalog.core.settings import Settings

CHANGES = "/api/v1/widgets/changes"
TIMEOUT_S = 60


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return filled_folder(tmp_path / "data", widget_line("acme/one"), widget_line("acme/two"))


@pytest.fixture
def client(data: Path) -> Iterator[AsgiClient]:
    with AsgiClient(AsgiApp(lambda: build_worker(Settings(data=data)))) as made:
        yield made


class Stream:
    """A client that listens. What the application sends is in `sent`."""

    def __init__(self, client: AsgiClient, query: str = "", *headers: tuple[str, str]) -> None:
        self.sent: asyncio.Queue[Message] = asyncio.Queue()
        self._heard: asyncio.Queue[Message] = asyncio.Queue()
        self._heard.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        given = [("accept", "text/event-stream"), *headers]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": CHANGES,
            "query_string": query.encode(),
            "headers": [(key.encode(), value.encode()) for key, value in given],
            "client": ("127.0.0.1", 1),
        }
        self.answering = asyncio.ensure_future(client.app(scope, self._heard.get, self.sent.put))

    async def next(self) -> Message:
        return await asyncio.wait_for(self.sent.get(), TIMEOUT_S)

    async def changes(self, count: int) -> list[Any]:
        """The next changes, without comments."""
        found: list[Any] = []
        while len(found) < count:
            lines = (await self.next())["body"].decode().splitlines()
            found += [json.loads(it[6:]) for it in lines if it.startswith("data: ")]
        return found

    async def leave(self) -> None:
        await self._heard.put({"type": "http.disconnect"})
        await asyncio.wait_for(self.answering, TIMEOUT_S)


def test_a_stream_sends_what_was_and_what_comes_and_ends_with_its_client(
    client: AsgiClient, data: Path
) -> None:
    async def listen() -> None:
        stream = Stream(client, "since=0")
        start = await stream.next()
        assert (start["type"], start["status"]) == ("http.response.start", 200)
        headers = dict(start["headers"])
        assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
        assert headers[b"access-control-allow-origin"] == b"*"
        assert b"content-length" not in headers
        assert [it["id"] for it in await stream.changes(2)] == ["acme/one", "acme/two"]

        add = asyncio.to_thread(filled_folder, data, widget_line("acme/three"))
        await add
        assert [(it["seq"], it["id"]) for it in await stream.changes(1)] == [(3, "acme/three")]
        await stream.leave()

        again = Stream(client, "since=0", ("last-event-id", "2"))
        await again.next()
        assert [it["seq"] for it in await again.changes(1)] == [3]
        await again.leave()

    client.run(listen())


def test_all_streams_end_with_the_application(data: Path) -> None:
    async def listen(client: AsgiClient) -> Stream:
        stream = Stream(client)
        assert (await stream.next())["status"] == 200
        await stream.next()
        return stream

    with AsgiClient(AsgiApp(lambda: build_worker(Settings(data=data)))) as client:
        stream = client.run(listen(client))
    assert stream.answering.done()
    assert stream.sent.get_nowait() == {"type": "http.response.body", "body": b""}
