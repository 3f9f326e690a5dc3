"""Pictures of authors are decoded before the handler runs that needs them, in fair turns by scope:
nobody else's change waits meanwhile, because no thread does.

The process with limits, the turns and what is remembered are those of one worker.
"""

import asyncio
import contextlib
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from ..catalog.store.attached_content import Picture, decode_picture, picture_of
from ..core.errors import BundleRefused, Busy, TooOften
from ..core.files.contract import Kind
from ..core.jobs.bounded_work import BoundedWork
from .picture_cost import expected_s, find_excess

_MAX_OF_ACCOUNT = 2
_MAX_WAITING_OF_ACCOUNT = 16
_RETRY_AFTER_S = 5
# For a turn. An author can wait longer than the reader of a page.
_MAX_WAIT_S = 30
_MAX_REFUSED = 5_000
# Between the publish form and its confirmation. A thumbnail has at most half a megabyte.
_MAX_KEPT = 64

_Key = tuple[str, Kind]


class NotChecked(Exception):
    """This content was not there when the pictures were checked."""


class SentPicture(NamedTuple):
    """`read` returns the content, or None if it is not what was announced; it may block."""

    sha256_hash: str
    kind: Kind
    read: Callable[[], bytes | None]


class Checked:
    """What is known about the pictures of one request: for a handler."""

    def __init__(self) -> None:
        self._found: dict[_Key, Picture | BundleRefused | Busy] = {}

    def add(self, key: _Key, found: Picture | BundleRefused | Busy) -> bool:
        """Returns whether it is a picture."""
        self._found[key] = found
        return isinstance(found, Picture)

    def find(self, sha256_hash: str, kind: Kind) -> Picture:
        """Raises BundleRefused, Busy and NotChecked."""
        found = self._found.get((sha256_hash, kind))
        if found is None:
            raise NotChecked
        if isinstance(found, Picture):
            return found
        raise found


NO_PICTURES = Checked()


class PictureChecks:
    """One per worker. Used from its event loop."""

    def __init__(self) -> None:
        self._decoding: BoundedWork[tuple[bytes, str, bool], tuple[Any, ...] | str]
        self._decoding = BoundedWork(decode_picture, _MAX_WAIT_S)
        self._kept: OrderedDict[_Key, Picture] = OrderedDict()
        self._refused: OrderedDict[_Key, str] = OrderedDict()
        self._present: Counter[str] = Counter()
        # Each is kept by those who use it.
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def one_more(self, account: str, max_wait_s: float) -> AsyncIterator[None]:
        """Wait while two versions of this account are being checked or published. Raises TooOften
        if that takes too long, or many wait already.
        """
        if self._present[account] >= _MAX_OF_ACCOUNT + _MAX_WAITING_OF_ACCOUNT:
            raise _too_many()
        slots = self._slots.setdefault(account, asyncio.Semaphore(_MAX_OF_ACCOUNT))
        self._present[account] += 1
        try:
            try:
                async with asyncio.timeout(max_wait_s):
                    await slots.acquire()
            except TimeoutError:
                raise _too_many() from None
            try:
                yield
            finally:
                slots.release()
        finally:
            self._present[account] -= 1
            if not self._present[account]:
                del self._present[account]

    @contextlib.asynccontextmanager
    async def one_at_a_time(self, request_id: str) -> AsyncIterator[None]:
        """A repeated confirmation waits for the first one, and then has its result."""
        lock = self._locks.setdefault(request_id, asyncio.Lock())
        async with lock:
            yield

    async def check(
        self,
        pictures: list[SentPicture],
        scope: str,
        in_turn: Callable[[Callable[[], bytes | None]], Awaitable[bytes | None]],
    ) -> Checked:
        """Up to the first that is refused or not there."""
        checked = Checked()
        for picture in pictures:
            key = picture.sha256_hash, picture.kind
            known = self._recall(key)
            content = None if known is not None else await in_turn(picture.read)
            if content is not None:
                known = await self._inspect(content, key, scope)
            if known is None or not checked.add(key, known):
                break
        return checked

    def _recall(self, key: _Key) -> Picture | BundleRefused | Busy | None:
        if key in self._refused:
            return BundleRefused(self._refused[key])
        return self._kept.get(key)

    async def _inspect(
        self, content: bytes, key: _Key, scope: str
    ) -> Picture | BundleRefused | Busy:
        _, kind = key
        try:
            if excess := find_excess(content, kind):
                raise BundleRefused(excess)
            cost_s = expected_s(content, kind)
            found = await self._decoding.ask((content, kind, True), scope, "".join(key), cost_s)
            picture = picture_of(found)
        except BundleRefused as error:
            _remember(self._refused, key, error.message, _MAX_REFUSED)
            return error
        except Busy as error:
            return error
        _remember(self._kept, key, picture, _MAX_KEPT)
        return picture


def _too_many() -> TooOften:
    return TooOften(
        f"At most {_MAX_OF_ACCOUNT} versions of one account can be checked at a time. Try again in "
        f"{_RETRY_AFTER_S} seconds.",
        wait_s=_RETRY_AFTER_S,
    )


def _remember(where: OrderedDict[_Key, Any], key: _Key, value: Any, most: int) -> None:
    where[key] = value
    if len(where) > most:
        where.popitem(last=False)
