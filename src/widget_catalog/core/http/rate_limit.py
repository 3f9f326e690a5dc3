"""Counts requests of clients in fixed windows, in a table of bounded size."""

from collections import OrderedDict

# About 20 MB. Beyond that the oldest windows are evicted. An attack from more addresses than this
# within a window gains little: each of them would be admitted anyway.
MAX_CLIENTS = 100_000


class FixedWindows:
    """A client's window starts with its first request and allows `amount` of them."""

    def __init__(self, amount: int, length_s: float, most_clients: int = MAX_CLIENTS) -> None:
        self._amount = amount
        self._length_s = length_s
        self._most_clients = most_clients
        # Ordered by start, and therefore also by end.
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    def __len__(self) -> int:
        return len(self._windows)

    def hit(self, client: str, now_s: float) -> float | None:
        """Count a request. Returns how many seconds the client has to wait if it exceeds the
        limit.
        """
        window = self._windows.get(client)
        if window is not None and now_s < window.ends_at_s:
            if window.count >= self._amount:
                return window.ends_at_s - now_s
            window.count += 1
            return None
        self._windows.pop(client, None)
        self._make_room(now_s)
        self._windows[client] = _Window(now_s + self._length_s)
        return None

    def _make_room(self, now_s: float) -> None:
        # Two per new client, so that expired windows are removed without ever removing many at
        # once.
        for _ in range(2):
            oldest = next(iter(self._windows.values()), None)
            if oldest is None:
                return
            if oldest.ends_at_s > now_s and len(self._windows) < self._most_clients:
                return
            self._windows.popitem(last=False)


class _Window:
    __slots__ = ("count", "ends_at_s")

    def __init__(self, ends_at_s: float) -> None:
        self.count = 1
        self.ends_at_s = ends_at_s
