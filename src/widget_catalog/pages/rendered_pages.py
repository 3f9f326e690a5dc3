"""Caches for public pages: rendered ones, each valid while its data is the same; and, for a short
time, data that only the store has.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from ..catalog.model.operator_content import Collection, LegalPage
from ..catalog.replica.cache import ByteBoundedCache
from ..catalog.store.installs import Installs
from ..catalog.store.scopes import Member
from ..core.errors import StoreUnavailable
from ..core.http.content import AnyContent, Packer
from ..core.http.http import Headers, Response
from ..core.http.rendering import PageRenderer
from ..core.languages.language import ENGLISH, Language
from ..core.tracing import part

_MAX_BYTES = 24 << 20
# Memory of an object besides its bytes; compressed forms are counted separately.
_OVERHEAD_BYTES = 1_000

# Values that change whenever the page changes: tags of what it shows, days, numbers.
Shows = tuple[object, ...]

K = TypeVar("K")
V = TypeVar("V")

_MAX_KNOWN = 5_000


class PageRequest(NamedTuple):
    """The parameters in a path, the raw query, and the reader's language."""

    params: Mapping[str, str]
    query_string: str
    language: Language = ENGLISH

    @property
    def query(self) -> dict[str, str]:
        try:
            pairs = parse_qsl(self.query_string, errors="replace", max_num_fields=30)
        except ValueError:
            pairs = []
        return dict(reversed(pairs))

    @property
    def page(self) -> int:
        number = self.query.get("page", "1")
        return int(number) if number.isascii() and number.isdecimal() and len(number) < 7 else 1

    @property
    def key(self) -> str:
        """The widget in the path."""
        return f"{self.params['scope']}/{self.params['name']}"


WAIT_S = 0.3
"""How long a page waits for the store, before it shows what is known. A load balancer asks another
node after a second (`deploy/haproxy.cfg`)."""


class PublicRoute(NamedTuple):
    """`find` returns None if there is no page for these values."""

    path: str
    find: Callable[[PageRequest], Awaitable[AnyContent | Response | None]]
    headers: Headers
    method: str = "GET"


class RenderedPages:
    def __init__(
        self, renderer: PageRenderer, packer: Packer, languages: Sequence[Language] = ()
    ) -> None:
        """`languages` are offered on every page that is translated."""
        self._renderer = renderer
        self._languages = languages
        self._packer = packer
        self._pages: ByteBoundedCache[str, tuple[Shows, AnyContent]] = ByteBoundedCache(_MAX_BYTES)

    def address(self, path: str) -> str:
        """A path in the form used in links."""
        if self._renderer.is_static:
            path = path.replace("?page=", "/page-")
        return self._renderer.root + path

    def get(
        self,
        key: str,
        shows: Shows,
        template: str,
        values: Callable[[], Mapping[str, Any]],
        language: Language | None = None,
        *,
        is_kept: bool = True,
    ) -> AnyContent:
        """The cached page for this key and these values, or a new one; `is_kept`: cache it.
        A page without a language is in English, and not translated.
        """
        kept = self.find(key, shows, language)
        if kept is not None:
            return kept
        content = self.render(template, language, **values())
        if is_kept:
            key = _key_in(language, key)
            size = content.size * 3 // 2 + 2 * len(key) + _OVERHEAD_BYTES
            self._pages.offer(key, ((*shows, self._renderer.look), content), size)
        return content

    def find(self, key: str, shows: Shows, language: Language | None = None) -> AnyContent | None:
        kept = self._pages.items.get(_key_in(language, key))
        wanted = (*shows, self._renderer.look)
        return kept[1] if kept is not None and kept[0] == wanted else None

    def render(self, template: str, language: Language | None = None, **values: Any) -> AnyContent:
        languages = self._languages if language is not None else ()
        page = self._renderer.render_public(template, language or ENGLISH, languages, **values)
        return self._packer.content([page])


def _key_in(language: Language | None, key: str) -> str:
    return key if language is None else f"{language.tag} {key}"


def page_numbers(page: int, pages: int) -> list[int | None]:
    """The linked pages: the first, the last, and those around this one; None is a gap."""
    shown = sorted({1, pages, *range(max(page - 2, 1), min(page + 2, pages) + 1)})
    numbers: list[int | None] = []
    for number in shown if pages > 1 else ():
        if numbers and number - (numbers[-1] or 0) > 1:
            numbers.append(None)
        numbers.append(number)
    return numbers


class StoreReads(Generic[K, V]):
    """Data of public pages that only the store has. Nobody waits for a store that is slow or hangs:
    after `WAIT_S`, a page shows the last value read.
    """

    kept_s: ClassVar[float]
    """How old what a page shows may be, while the store responds."""
    is_awaited: ClassVar[bool] = True
    """Whether a page waits for a newer value; otherwise only for the first."""

    def __init__(self, read: Callable[[K], Awaitable[V]], *, is_at_once: bool = False) -> None:
        """`is_at_once`: `read` never waits."""
        self._read = read
        self._is_at_once = is_at_once
        self._known: dict[K, tuple[float, V | None]] = {}
        self._reading: dict[K, tuple[float, asyncio.Task[V | None]]] = {}

    async def find(self, key: K) -> V | None:
        """None if nothing was read yet."""
        at = time.monotonic()
        read_at, known = self._known.get(key, (None, None))
        if read_at is not None and at - read_at < self.kept_s:
            return known
        if self._is_at_once:
            return await self._read_again(key, known)
        self.begin(key)
        began_at, task = self._reading[key]
        left_s = began_at + WAIT_S - at
        if left_s > 0 and (self.is_awaited or read_at is None):
            with part("page_data"):
                await asyncio.wait([task], timeout=left_s)
        return task.result() if task.done() else known

    def begin(self, key: K) -> None:
        """Read it if that is due. A page that shows several values begins with all of them, so that
        it waits for them at the same time.
        """
        at = time.monotonic()
        read_at, known = self._known.get(key, (None, None))
        is_due = read_at is None or at - read_at >= self.kept_s
        if is_due and key not in self._reading and not self._is_at_once:
            self._reading[key] = (at, asyncio.ensure_future(self._read_again(key, known)))

    async def _read_again(self, key: K, known: V | None) -> V | None:
        try:
            with suppress(StoreUnavailable):
                known = await self._read(key)
        finally:
            self._reading.pop(key, None)
        self._known.pop(key, None)
        if len(self._known) >= _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        self._known[key] = (time.monotonic(), known)
        return known


class InstallsReader(StoreReads[int, Installs]):
    """The installs over time, by the widget's number."""

    kept_s = 30.0


class MembersReader(StoreReads[str, Sequence[Member]]):
    """The public members of a scope."""

    kept_s = 2.0  # Short, because members who leave or become private must disappear soon.


class CollectionsReader(StoreReads[None, tuple[Collection, ...]]):
    """The collections of the operator."""

    kept_s = 1.0


class LegalPageReader(StoreReads[str, LegalPage | None]):
    """A legal page of the operator, by its slug."""

    kept_s = 1.0


class TrendingReader(StoreReads[None, tuple[str, ...]]):
    """The widgets whose installs grow. In a large catalog it takes a second to find them."""

    kept_s = 300.0
    is_awaited = False
