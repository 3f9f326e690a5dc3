"""One client of a soak, in a separate process: sends requests, and times and checks every
response.
"""

import contextlib
import random
import time
from dataclasses import dataclass, field

from .client import Connection, Reply, request
from .measures import Histogram
from .traffic import (
    ACCEPTS_COMPRESSED,
    SDKS,
    detail_target,
    everyday_searches,
    registry_target,
    search_target,
)

# In percent. A fifth of the searches use compatSdk.
SHARES = {"detail": 50, "known": 15, "search": 20, "registry": 5, "count": 10}

_CONNECTIONS = 4
_FAVOURITES = 500
_EXAMPLES = 3
_BEGINNINGS = {
    "detail": b'{"widget":{',
    "known": b'{"widget":{',
    "search": b'{"widgets":[',
    "registry": b"\x28\xb5\x2f\xfd",  # The magic number of zstd.
    "count": b'{"success":true}',
}


@dataclass
class Tally:
    """The observations of one client, or of all of them together."""

    times_ms: dict[str, Histogram] = field(default_factory=dict)
    acknowledged: int = 0
    errors: int = 0
    examples: list[str] = field(default_factory=list)

    def fail(self, what: str) -> None:
        self.errors += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(what)


def send_traffic(port: int, widgets: int, seed: int, seconds: float) -> Tally:
    """Send requests without a pause until the time is over."""
    rng = random.Random(seed)
    traffic = _Traffic(rng, widgets)
    tally = Tally({kind: Histogram() for kind in SHARES})
    kinds, shares = list(SHARES), list(SHARES.values())
    deadline = time.monotonic() + seconds
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(Connection(port)) for _ in range(_CONNECTIONS)]
        while time.monotonic() < deadline:
            for i, kind in enumerate(rng.choices(kinds, shares, k=_CONNECTIONS)):
                raw = traffic.next(kind)
                began = time.perf_counter()
                try:
                    reply = connections[i].ask(raw)
                except OSError as error:
                    tally.fail(f"{kind}: {error}")
                    time.sleep(0.1)
                    with contextlib.suppress(OSError):
                        connections[i] = stack.enter_context(Connection(port))
                    continue
                tally.times_ms[kind].add((time.perf_counter() - began) * 1e3)
                if not traffic.is_right(kind, reply):
                    tally.fail(f"{kind}: {reply.status} {reply.body[:100]!r}")
                elif kind == "count":
                    tally.acknowledged += 1
    return tally


class _Traffic:
    """Creates requests of each kind, and knows which responses are right."""

    def __init__(self, rng: random.Random, widgets: int) -> None:
        self._rng = rng
        self._widgets = widgets
        self._searches = everyday_searches()
        self._favourites = rng.sample(range(widgets), min(_FAVOURITES, widgets))
        self._tags: dict[int, str] = {}
        self._favourite = 0

    def next(self, kind: str) -> bytes:
        number = self._rng.randrange(self._widgets)
        match kind:
            case "detail":
                return request(detail_target(number))
            case "known":
                return self._next_known()
            case "search":
                q, page = self._rng.choice(self._searches)
                sdk = self._rng.choice(SDKS) if self._rng.random() < 0.2 else ""
                return request(search_target(q, page, sdk))
            case "registry":
                return request(registry_target(number), ACCEPTS_COMPRESSED)
        return request(detail_target(number), method="POST")

    def _next_known(self) -> bytes:
        self._favourite = self._rng.choice(self._favourites)
        tag = self._tags.get(self._favourite)
        known = {} if tag is None else {"If-None-Match": tag}
        return request(detail_target(self._favourite), known)

    def is_right(self, kind: str, reply: Reply) -> bool:
        if reply.status == 304:
            return kind == "known"
        if reply.status != 200 or not reply.body.startswith(_BEGINNINGS[kind]):
            return False
        if kind == "known":  # New, or counted since.
            self._tags[self._favourite] = reply.header("etag")
        return True
