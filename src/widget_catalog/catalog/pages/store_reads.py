"""StoreReads: a short-lived cache of data on public pages that only the store has."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import ClassVar, Generic, Protocol, TypeVar

from ...core.actors import Role
from ...core.db.engine import Store
from ...core.errors import StoreUnavailable
from ...core.hooks import extension_point
from ..installs import Installs

K = TypeVar("K")
V = TypeVar("V")

_MAX_KNOWN = 5_000


class StoreReads(Generic[K, V]):
    kept_s: ClassVar[float]
    """How old what a page shows may be."""

    def __init__(self, read: Callable[[K], Awaitable[V]]) -> None:
        self._read = read
        self._known: dict[K, tuple[float, V | None]] = {}

    async def find(self, key: K) -> V | None:
        """The last value read, if the store is unavailable; None if there is none."""
        read_at, known = self._known.get(key, (0.0, None))
        if read_at and time.monotonic() - read_at < self.kept_s:
            return known
        with suppress(StoreUnavailable):
            known = await self._read(key)
        self._known.pop(key, None)
        if len(self._known) >= _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = (time.monotonic(), known)
        return known


class InstallsReader(StoreReads[int, Installs]):
    """The installs over time, by the widget's number."""

    kept_s = 30.0


class Member(Protocol):
    """A public member of an organization."""

    @property
    def username(self) -> str: ...

    @property
    def role(self) -> Role: ...


class MembersReader(StoreReads[str, Sequence[Member]]):
    """The public members of a scope."""

    kept_s = 2.0  # Short, because members who leave or become private must disappear soon.


@extension_point
def find_public_members(_store: Store, _scope: str) -> Sequence[Member]:
    """The members whom an organization shows to everybody: only its room knows them."""
    return ()
