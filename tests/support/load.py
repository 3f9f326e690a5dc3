"""Clients that send requests as fast as they can, and record what was acknowledged or rejected."""

import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Self

from support.service import Service, wait_for

_ERRORS = (OSError, http.client.HTTPException)
_TIMEOUT_S = 120


class Clients:
    """Clients in separate threads, from entering to leaving. Each ends when `_is_over` is set."""

    def __init__(self, jobs: Sequence[Callable[[], None]]) -> None:
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=job, daemon=True) for job in jobs]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join(_TIMEOUT_S)
            if thread.is_alive():
                self.hung()

    def hung(self) -> None:
        """A client has received no response for a long time."""
        raise AssertionError(f"A client got no answer for {_TIMEOUT_S} s.")


class CountingLoad(Clients):
    """Several clients in threads. `attempted` was sent, `acknowledged` was answered with 200.

    What was attempted and not acknowledged may have been counted or not.
    """

    def __init__(
        self, service: Service | int, keys: list[str], clients: int = 6, pause_s: float = 0
    ) -> None:
        """`service`: or the port of a proxy in front of some."""
        self._pause_s = pause_s
        self.failures: list[str] = []
        self.attempted: Counter[str] = Counter()
        self.acknowledged: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self._port = service if isinstance(service, int) else service.port
        self._keys = keys
        super().__init__([partial(self._post, number) for number in range(clients)])

    def wait_for(self, acknowledged: int) -> None:
        """Until this many more are acknowledged than when it was called."""
        wanted = self.acknowledged.total() + acknowledged
        wait_for(lambda: self.acknowledged.total() >= wanted, _TIMEOUT_S)

    def _post(self, number: int) -> None:
        choose = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        while not self._is_over.is_set():
            key = choose.choice(self._keys)
            with self._lock:
                self.attempted[key] += 1
            try:
                connection.request("POST", f"/api/v1/widgets/{key}")
                response = connection.getresponse()
                with self._lock:
                    self.statuses[response.status] += 1
                    # The status line counts as the acknowledgement: the rest may be cut off.
                    self.acknowledged[key] += response.status == 200
                    if response.status != 200:
                        self.failures.append(f"{response.status}")
                response.read()
            except _ERRORS as error:
                with self._lock:
                    self.failures.append(repr(error))
                connection.close()
                time.sleep(0.01)
            if self._pause_s:
                self._is_over.wait(self._pause_s)
        connection.close()


class ReadingLoad(Clients):
    """Several reading clients in threads, every second one with a new connection each time.

    A client repeats a request over a new connection only if it was asked to: `failures` are
    requests without a response, or with another status than 200.
    """

    def __init__(self, port: int, path: str, clients: int = 4, pause_s: float = 0) -> None:
        self._pause_s = pause_s
        self.answered = 0
        self.failures: list[str] = []
        self.longest_s = 0.0
        self._port = port
        self._path = path
        super().__init__([partial(self._read, number) for number in range(clients)])

    def wait_for(self, responses: int) -> None:
        """Until there are this many more than when it was called."""
        wanted = self.answered + responses
        wait_for(lambda: self.answered >= wanted, _TIMEOUT_S)

    def _read(self, number: int) -> None:
        is_kept = number % 2 == 0
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while not self._is_over.is_set():
            began = time.monotonic()
            try:
                connection.request("GET", self._path)
                response = connection.getresponse()
                response.read()
                with self._lock:
                    self.answered += 1
                    self.longest_s = max(self.longest_s, time.monotonic() - began)
                    if response.status != 200:
                        self.failures.append(f"{response.status}")
                if not is_kept:
                    connection.close()
            except _ERRORS as error:
                with self._lock:
                    self.failures.append(f"{'kept' if is_kept else 'new'} connection: {error!r}")
                connection.close()
            if self._pause_s:
                self._is_over.wait(self._pause_s)
        connection.close()
