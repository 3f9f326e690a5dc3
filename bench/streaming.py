"""Scenarios for dashboards: many that follow the changes, and resolving."""

import contextlib
import json
import random
import resource
import selectors
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from .catalogs import key_of
from .client import Connection, request
from .folders import ensure_folder
from .load import run_wrk, write_requests
from .machine import cpu_seconds_of, memory_of
from .measures import BenchError, Limit, Outcome, at_least, at_most, median_ratio
from .publishing import running_with_author
from .reading import SIZE, reading
from .rig import Rig
from .servers import Server, running_catalog
from .traffic import detail_targets

_LISTENERS = 1_000
_CHANGES = 10
_FILES = 4_096
_ASKED, _RESOLVED = 100, 200
_KNOWN = 100_000
_LISTEN = request("/api/v1/widgets/changes", {"Accept": "text/event-stream"})


def changes(rig: Rig) -> list[Outcome]:
    """A thousand event streams at one worker: their latency and cost."""
    _allow_files()
    targets = [request(target) for target in detail_targets(SIZE, SIZE)]
    file = write_requests(rig.folder / "requests-changes", targets)
    delays_ms, rounds = [], range(rig.options.rounds)
    with running_with_author(rig) as (catalog, author):
        (worker,) = catalog.worker_pids()
        run_wrk(rig, catalog, file, rig.options.seconds)
        author.publish()
        before = memory_of(worker).rss
        with _listening(catalog) as listeners:
            for _ in range(_CHANGES):
                listeners.expect()
                author.publish()
                delays_ms.append(listeners.wait(time.monotonic()))
            used = memory_of(worker).rss - before
            busy = [run_wrk(rig, catalog, file, rig.options.seconds).rate for _ in rounds]
        quiet = [run_wrk(rig, catalog, file, rig.options.seconds).rate for _ in rounds]
    who = f"{_LISTENERS:,} event streams at one worker"
    notes = [f"median {median(delays_ms):,.0f} ms of {_CHANGES} changes"]
    rates = [f"{median(busy):,.0f}/s beside {median(quiet):,.0f}/s"]
    return [
        Outcome(f"a change reaches {who}, worst", max(delays_ms), "ms", at_most(500), notes),
        Outcome(f"memory for {who}", used, "MB", at_most(60)),
        Outcome(f"detail with {who}", median_ratio(busy, quiet), "of quiet", at_least(0.80), rates),
    ]


def resolve(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    """Of a hundred widgets, random each time, and always the same: the CPU time of the worker,
    which has resolved every widget before, or as many of them as a large catalog has.
    """
    drawn = random.Random(1)
    serving = reading(rig) if size == SIZE else running_catalog(rig, ensure_folder(size))
    with serving as catalog, Connection(catalog.port) as client:
        anew = [_resolve_request(drawn.sample(range(size), _ASKED)) for _ in range(_RESOLVED)]
        for first in range(0, min(size, _KNOWN), _ASKED):
            client.ask(_resolve_request(range(first, first + _ASKED)))
        anew_ms = _core_ms(catalog, client, anew)
        again_ms = _core_ms(catalog, client, anew[-1:] * _RESOLVED)
    what = f"resolve {_ASKED} widgets of {size:,}, on the server's core"
    return [
        Outcome(what, anew_ms, "ms", wanted),
        Outcome(f"the same {_ASKED} of {size:,} again, on the server's core", again_ms, "ms"),
    ]


def _core_ms(catalog: Server, client: Connection, asked: Sequence[bytes]) -> float:
    """The CPU time of the worker for each of these requests."""
    before = cpu_seconds_of(catalog.worker_pids())
    for raw in asked:
        if client.ask(raw).status != 200:
            raise BenchError("resolve was not answered 200.")
    return (cpu_seconds_of(catalog.worker_pids()) - before) / len(asked) * 1000


def _resolve_request(numbers: Iterable[int]) -> bytes:
    widgets = [{"id": key_of(it), "installed": "1.0.0", "range": "*"} for it in numbers]
    body = json.dumps({"sdk": "1.2.0", "widgets": widgets}).encode()
    headers = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
    return request("/api/v1/widgets/resolve", headers, "POST") + body


class _Listeners:
    """Connections that are read by a thread, which records when the last one has received a
    change.
    """

    def __init__(self, port: int) -> None:
        self._selector = selectors.DefaultSelector()
        for _ in range(_LISTENERS):
            opened = socket.create_connection(("127.0.0.1", port))
            opened.sendall(_LISTEN)
            self._selector.register(opened, selectors.EVENT_READ)
        self._heard: set[int] = set()
        self._last_at = 0.0
        self._all = threading.Event()
        self._is_ended = False
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def expect(self) -> None:
        self._heard.clear()
        self._all.clear()

    def wait(self, since: float) -> float:
        """Until all have heard; how many milliseconds after this that was."""
        if not self._all.wait(30):
            raise BenchError(f"Only {len(self._heard)} listeners heard of a change.")
        return max(0.0, self._last_at - since) * 1000

    def close(self) -> None:
        self._is_ended = True
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()

    def _read(self) -> None:
        while not self._is_ended:
            for key, _ in self._selector.select(0.1):
                received = key.fileobj.recv(65_536)  # type: ignore[union-attr]
                if b"data: " in received:
                    self._heard.add(key.fd)
                    self._last_at = time.monotonic()
            if len(self._heard) == _LISTENERS:
                self._all.set()


@contextlib.contextmanager
def _listening(catalog: Server) -> Iterator[_Listeners]:
    listeners = _Listeners(catalog.port)
    time.sleep(2)  # Until all are connected.
    try:
        yield listeners
    finally:
        listeners.close()


def _allow_files() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_FILES, most), most))
