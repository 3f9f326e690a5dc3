"""The clients: some publish, yank, count and read, and some stop reading."""

import contextlib
import hashlib
import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Callable
from functools import partial

import httpx

from chaos.ledger import Ledger, Release
from support.author import Author
from support.haproxy import NO_RESPONSE
from support.load import Clients

_ERRORS = (OSError, http.client.HTTPException)
_WIDGETS_PER_AUTHOR = 4
_VERSIONS_PER_WIDGET = 60
_STALLED, _STALLED_IN_SHORT = 30, 10
# A read that takes longer is logged.
_SLOW_S = 1.5
# How long an unread connection is kept before the next one.
_STALL_S = 20.0


class Traffic(Clients):
    """All clients, from entering to leaving. They continue through every restart."""

    def __init__(
        self,
        port: int,
        tokens: dict[str, str],
        counted: list[str],
        ledger: Ledger,
        seed: int,
        *,
        is_proxied: bool = False,
        is_short: bool = False,
    ) -> None:
        """`is_proxied`: a proxy may report that a node did not respond; a client that retries
        reaches another node. These clients are slower, because all nodes are on this machine; so
        are those of the short form, which runs in parallel with other tests.
        """
        self._is_proxied = is_proxied
        self._pause_s = 0.04 if is_proxied else 0.1 if is_short else 0.004
        self._publish_pause_s = 0.1 if is_short else 0.0
        self._stalled = _STALLED_IN_SHORT if is_short else _STALLED
        self.port = port
        self.ledger = ledger
        self.counted = counted
        # Cleared while no service runs: requests that fail then are not an error.
        self.is_served = threading.Event()
        jobs: list[Callable[[random.Random], None]] = []
        jobs += [partial(self._publish, *signed_in) for signed_in in tokens.items()]
        jobs += [self._count] * 3 + [self._read] * 3 + ([] if is_proxied else [self._stall])
        super().__init__(
            [partial(job, random.Random(f"{seed} {number}")) for number, job in enumerate(jobs)]
        )

    def hung(self) -> None:
        self.ledger.violated("a client got no answer for two minutes")

    def _publish(self, username: str, token: str, choose: random.Random) -> None:
        with Author(f"http://127.0.0.1:{self.port}", token) as author:
            number = 0
            while not self._is_over.is_set():
                number += 1
                generation = number // (_WIDGETS_PER_AUTHOR * _VERSIONS_PER_WIDGET)
                name = f"w{generation}-{choose.randrange(_WIDGETS_PER_AUTHOR)}"
                js = b"export default '%s %d';\n" % (username.encode(), number)
                js *= choose.choice((1, 10, 3_000))
                release = Release(f"{username}/{name}", f"1.{number}.0", _hash(js))
                with self.ledger.writing():
                    self.ledger.releases.append(release)
                self._publish_one(author, release, js)
                if choose.random() < 0.1:
                    self._yank_one(author, choose, username)
                self._is_over.wait(self._publish_pause_s)

    def _publish_one(self, author: Author, release: Release, js: bytes) -> None:
        try:
            response = author.publish(release.key, release.version, js)
        except httpx.TransportError:
            self.ledger.note("publishes without an answer")
            self._pause()
            return
        if response.status_code == 200:
            release.is_acknowledged = True
            self.ledger.note("publishes acknowledged")
        elif self._is_refusal(
            response.status_code, response.text, f"publish: {response.text[:200]}"
        ):
            self.ledger.note("publishes refused")
            self._is_over.wait(0.1)

    def _yank_one(self, author: Author, choose: random.Random, username: str) -> None:
        mine = [
            released
            for released in self.ledger.releases[-500:]
            if released.key.startswith(f"{username}/")
            and released.is_acknowledged
            and not released.is_yank_attempted
        ]
        if not mine:
            return
        release = choose.choice(mine)
        release.is_yank_attempted = True
        path = f"/api/widgets/{release.key}/versions/{release.version}/yank"
        try:
            response = author.client.post(path, json={"reason": "chaos"})
        except httpx.TransportError:
            return
        if response.is_success:
            release.is_yank_acknowledged = True
            self.ledger.note("yanks acknowledged")
        else:
            self._is_refusal(response.status_code, response.text, f"yank: {response.text[:200]}")

    def _count(self, choose: random.Random) -> None:
        connection = self._connection()
        while not self._is_over.is_set():
            key = choose.choice(self.counted)
            with self.ledger.writing():
                self.ledger.counts_attempted[key] += 1
            try:
                connection.request("POST", f"/api/v1/widgets/{key}")
                response = connection.getresponse()
                # The status line counts as the acknowledgement: the rest may be cut off.
                with self.ledger.writing():
                    self.ledger.counts_acknowledged[key] += response.status == 200
                text = response.read().decode()
            except _ERRORS:
                connection.close()
                self._pause()
                continue
            if response.status == 200:
                self.ledger.note("counts acknowledged")
            elif self._is_refusal(response.status, text, f"count: {text[:200]}"):
                self.ledger.note("counts refused")
                self._is_over.wait(0.1)
            self._is_over.wait(self._pause_s)

    def _read(self, choose: random.Random) -> None:
        connection = self._connection()
        waiting_since: float | None = None
        failed = 0
        while not self._is_over.is_set():
            path = self._choose_path(choose)
            began = time.monotonic()
            if not self.is_served.is_set():
                waiting_since = None
            status = 0
            try:
                connection.request("GET", path)
                response = connection.getresponse()
                status = response.status
                body = response.read()
                if self._is_no_response(status, body):
                    raise http.client.HTTPException(body)
            except _ERRORS as error:
                connection.close()
                self.ledger.note("reads cut off or not answered")
                if self.is_served.is_set():
                    took_s = time.monotonic() - began
                    which = f"{threading.current_thread().name}, status {status}"
                    what = f"failed after {took_s:.3f} s: {path} ({which}): {error!r:.200}"
                    self.ledger.log(what)
                    waiting_since = waiting_since or began
                failed += 1
                if self._is_proxied and failed > 1:
                    self.ledger.violated("a read failed, and so did the next one")
                self._pause()
                continue
            if self.is_served.is_set():
                waited_s = time.monotonic() - (waiting_since or began)
                self.ledger.waited(waited_s)
                if waited_s > _SLOW_S:
                    self.ledger.log(f"answered after {waited_s:.3f} s: {path}")
            waiting_since = None
            failed = 0
            self.ledger.note("reads answered")
            self._check_read(path, status, body)
            self._is_over.wait(self._pause_s / 2)
        connection.close()

    def _choose_path(self, choose: random.Random) -> str:
        key = choose.choice(self.counted)
        scope = key.partition("/")[0]
        return choose.choice(
            (
                f"/api/v1/widgets/{key}",
                f"/api/v1/widgets/search?q={choose.choice('abcdefghijklmnop')}&limit=20",
                "/api/v1/widgets/search?limit=100&compatSdk=1.2.3",
                f"/api/widgets/{scope}/registry.json",
                f"/cdn/@{key}/1.0.0/index.js",
                "/api/stats",
                "/",
            )
        )

    def _check_read(self, path: str, status: int, body: bytes) -> None:
        route = path.partition("?")[0]
        if status != 200:
            self.ledger.violated(f"{status} for GET {route}: {body[:200]!r}")
        elif route.startswith("/api/"):
            try:
                json.loads(body)
            except ValueError:
                self.ledger.violated(f"broken JSON for GET {route}")

    def _stall(self, _choose: random.Random) -> None:
        """Connections that request much and read nothing, repeatedly."""
        scope = self.counted[0].partition("/")[0]
        request = f"GET /api/widgets/{scope}/registry.json HTTP/1.1\r\nHost: catalog\r\n\r\n"
        while not self._is_over.is_set():
            with contextlib.ExitStack() as stack:
                for _ in range(self._stalled):
                    with contextlib.suppress(OSError):
                        connection = socket.create_connection(("127.0.0.1", self.port), 5)
                        stack.enter_context(connection)
                        connection.sendall(request.encode() * 20)
                        self.ledger.note("connections that never read")
                self._is_over.wait(_STALL_S)

    def _is_refusal(self, status: int, text: str, what: str) -> bool:
        """Whether it was rejected properly: temporarily, and with a message."""
        if self._is_no_response(status, text.encode()):
            self.ledger.note("changes without an answer")
            return False
        try:
            is_sentence = isinstance(json.loads(text)["error"], str)
        except (ValueError, KeyError, TypeError):
            is_sentence = False
        if "<Code>InternalError</Code>" in text:  # Of S3 itself, to an upload: tools repeat it.
            self.ledger.note("uploads that the object store failed to keep")
            return False
        # When the clock jumps ahead, requests and upload URLs expire: 404 and 403.
        if is_sentence and status in (403, 404, 409, 429, 503):
            return True
        self.ledger.violated(f"{status} for {what}")
        return False

    def _is_no_response(self, status: int, body: bytes) -> bool:
        """Whether the balancer says that no node did respond."""
        return self._is_proxied and status in (502, 503, 504) and NO_RESPONSE.encode() in body

    def _pause(self) -> None:
        """After a failed request: briefly, or longer while no service runs."""
        self._is_over.wait(0.02 if self.is_served.is_set() else 0.25)

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)


def _hash(js: bytes) -> str:
    return hashlib.sha256(js).hexdigest()
