"""SearchPages: pages of search results, as bytes for the API and as cards for pages.

A cached response is reused while the index would find the same widgets, in the same order, and
their counts are those that it shows; counts of other widgets do not matter.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
import xxhash

from widget_contract.semver import SemVer

from ...core.http.content import AnyContent, Packer
from ..model.card_picture import Card, CardResults
from ..model.query import Order, SearchRequest
from ..model.widgets import runs_on
from ..replica.cache import ByteBoundedCache, CacheRoom
from ..replica.reader import ReplicaReader
from ..replica.records import DocumentRecord, decode_outline
from ..replica.rendering import with_cdn
from ..replica.revision import Counts
from ..replica.rows import SummaryRow
from ..search.index import SearchIndex
from ..search.popularity import Mark
from ..search.scoring import Hits

# Memory of an object besides its bytes.
_OVERHEAD_BYTES = 500
_RESULT_BYTES = 80
_REMEMBERED_SDKS = 8
# Of a card as an object, and as HTML in a language or two.
_CARD_BYTES = 5_000

_LATEST = b',"latestVersion":'
_COMPATIBLE = b',"latestCompatibleVersion":'
_ID, _PICTURE = b',"id":', b',"picture":'

_decode_card = msgspec.json.Decoder(Card).decode


class _Summary:
    """A search result as last shown, and its versions for the SDKs requested so far.

    `text` is its JSON followed by a comma; `tag` changes with all of it except the count, which is
    at least as new as this `revision` of the counts: looking at each count again takes as long as
    joining the texts. The order of a page may follow newer ones. In `compatible`, None is the
    latest version. `card` is the same for pages, once it was shown, if it `has_room`: its size
    includes a card.
    """

    __slots__ = (
        "_after",
        "_before",
        "card",
        "compatible",
        "count",
        "has_room",
        "picture",
        "place",
        "revision",
        "tag",
        "text",
    )

    def __init__(self, row: SummaryRow, cdn_url: str, count: int) -> None:
        self.card: Card | None = None
        self.has_room = False
        self.tag = xxhash.xxh3_64_intdigest(row.head + row.latest + row.picture)
        self.place = row.place
        self.picture = row.picture
        self.compatible: dict[SemVer, bytes | None] = {}
        self.revision = -1
        self.count, digits = count, b"%d" % count
        before = row.head + b',"downloadCount":'
        self._before = len(before)
        self._after = self._before + len(digits)
        latest = with_cdn(row.latest, cdn_url) or b"null"
        self.text = b"%b%b%b%b}," % (before, digits, _LATEST, latest)

    def follow(self, count: int, revision: int) -> bytes:
        """The text with this count, which was read after the revision."""
        self.revision = revision
        return self.text if count == self.count else self.show(count)

    def show(self, count: int) -> bytes:
        """The text with this count."""
        digits = b"%d" % count
        self.text = self.text[: self._before] + digits + self.text[self._after :]
        self.count = count
        self._after = self._before + len(digits)
        return self.text

    @property
    def latest(self) -> bytes:
        return self.text[self._after + len(_LATEST) : -2]

    def read(self, text: bytes, widget_id: int) -> Card:
        """The text as a card, with what pages need besides: its number and its picture."""
        picture = _PICTURE + self.picture if self.picture else b""
        return _decode_card(b"%b%b%d%b}" % (text[:-2], _ID, widget_id, picture))


class _Response:
    """A response, and what shows whether it is still valid. `revision` is that of the counts.

    It has its mark and the counts that it shows once it is cached.
    """

    __slots__ = ("content", "counts", "found", "mark", "revision")

    mark: Mark
    counts: list[int]

    def __init__(self, content: AnyContent | CardResults, found: Hits, revision: int) -> None:
        self.content = content
        self.found = found
        self.revision = revision

    @property
    def size(self) -> int:
        """Memory, including a compressed form."""
        own = 2 * len(self.found.among) + _RESULT_BYTES * len(self.found.ids)
        return self.content.size * 3 // 2 + own + _OVERHEAD_BYTES

    def shows(self, ids: list[int], counts: list[int]) -> bool:
        return self.found.ids == ids and self.counts == counts

    def note(self, found: Hits, mark: Mark, revision: int) -> None:
        """Record the current state."""
        self.found, self.mark, self.revision = found._replace(positions=[]), mark, revision


class SearchPages:
    def __init__(
        self,
        reader: ReplicaReader,
        counts: Counts,
        packer: Packer,
        cdn_url: str,
        max_bytes: int,
        room: CacheRoom,
    ) -> None:
        self._reader = reader
        self._counts = counts
        self._slots = counts.slots
        self._packer = packer
        self._cdn_url = cdn_url
        for_summaries, for_responses = max_bytes * 3 // 5, max_bytes * 2 // 5
        self._summaries: ByteBoundedCache[int, _Summary]
        self._summaries = ByteBoundedCache(for_summaries, room=room)
        # Many searches are never repeated: writing each to new memory takes longer than reusing it.
        self._responses: ByteBoundedCache[SearchRequest, _Response] = ByteBoundedCache(
            for_responses, room=room, only_repeated=True
        )

    def content(self, index: SearchIndex, asked: SearchRequest, *, is_kept: bool) -> Any:
        """What the index finds now, as content, or for pages as `CardResults`. `is_kept`: the index
        has all changes, so the response may be cached.
        """
        revision, slots = self._counts.revision(), self._slots
        index.refresh()
        known = self._responses.items.get(asked)
        mark = None
        if known is not None and index.still_finds(known.mark):
            if known.revision == revision:
                return known.content
            # If results are in the exact order of their counts, none of them was counted.
            if asked.query.order is Order.RELEVANCE and index.is_exact:
                return known.content
            found, mark = known.found, known.mark
        else:
            found = index.find(asked.query, asked.offset, asked.limit)
        if known is not None and known.shows(found.ids, [slots[it] for it in found.ids]):
            known.note(found, mark or index.mark(found), revision)
            return known.content
        are_cards = asked.is_for_pages and asked.sdk is None
        summaries = self._summaries_of(found.ids, are_cards=are_cards)
        content = self._render(asked, found, summaries, revision)
        if is_kept and self._responses.is_repeated(asked):
            counts = [it.count for it in summaries]
            if counts != [slots[it] for it in found.ids]:
                # The order may already follow a count that the page does not show, because it came
                # after the revision was read. It would not be noticed later.
                return content
            response = _Response(content, found, revision)
            response.note(found, mark or index.mark(found), revision)
            response.counts = counts
            size = response.size + 4 * len(asked.query.text) + len(asked.page)
            self._responses.keep(asked, response, size)
        return content

    @property
    def misses(self) -> int:
        """How many pages were rendered because none was cached, or counts had changed."""
        return self._responses.misses

    def cards(self, ids: Sequence[int]) -> tuple[Card, ...]:
        """These listed widgets, with their current counts."""
        return self._cards(ids, self._summaries_of(ids, are_cards=True))

    def forget(self, widget_id: int) -> None:
        """This widget has changed, and with it possibly any response."""
        self._summaries.drop(widget_id)
        self._responses.clear()

    def clear(self) -> None:
        self._summaries.clear()
        self._responses.clear()

    def _render(
        self, asked: SearchRequest, found: Hits, summaries: Sequence[_Summary], revision: int
    ) -> AnyContent | CardResults:
        if asked.is_for_pages and asked.sdk is None:
            cards = self._cards(found.ids, summaries)
            tags = [(it.tag, it.count) for it in summaries]
            return CardResults(cards, found.total, (found.total, tags))
        slots = self._slots
        texts = [
            summary.text
            if summary.revision == revision
            else summary.follow(slots[widget_id], revision)
            for widget_id, summary in zip(found.ids, summaries)  # noqa: B905  One for each.
        ]
        if asked.sdk is not None:
            fitting = self._compatible(found.ids, summaries, asked.sdk)
            texts = [
                b"%b%b%b}," % (text[:-2], _COMPATIBLE, entry)
                for text, entry in zip(texts, fitting, strict=True)
            ]
        if asked.is_for_pages:
            each = zip(texts, summaries, found.ids, strict=True)
            cards = tuple(it.read(text, widget_id) for text, it, widget_id in each)
            tag = xxhash.xxh3_64_hexdigest(b"".join(texts))
            return CardResults(cards, found.total, (found.total, tag))
        if texts:
            texts[-1] = texts[-1][:-1]
        numbers = (found.total, asked.page.encode(), asked.limit)
        return self._packer.content(
            [b'{"widgets":[', *texts, b'],"total":%d,"page":%b,"limit":%d}' % numbers]
        )

    def _cards(self, ids: Sequence[int], summaries: Sequence[_Summary]) -> tuple[Card, ...]:
        """The cards of these widgets. Each has one object until it changes or is counted, so that
        what is made of it can be kept with it.
        """
        cards = []
        for widget_id, summary in zip(ids, summaries, strict=True):
            if summary.count != (count := self._slots[widget_id]):
                summary.show(count)
            card = summary.card
            if card is None or card.download_count != count:
                if not summary.has_room:
                    summary.has_room = self._summaries.grow(widget_id, summary, _CARD_BYTES)
                card = summary.read(summary.text, widget_id)
                summary.card = card if summary.has_room else None
            cards.append(card)
        return tuple(cards)

    def _summaries_of(self, ids: Sequence[int], *, are_cards: bool = False) -> list[_Summary]:
        """`are_cards`: they are about to be shown on a page."""
        cached = self._summaries.items
        try:
            return [cached[widget_id] for widget_id in ids]
        except KeyError:
            found = {widget_id: cached[widget_id] for widget_id in ids if widget_id in cached}
        missing = [widget_id for widget_id in ids if widget_id not in found]
        for row in self._reader.list_summaries(missing):
            summary = found[row.id] = _Summary(row, self._cdn_url, self._slots[row.id])
            size = len(summary.text) + len(row.picture) + _OVERHEAD_BYTES
            size += _CARD_BYTES if are_cards else 0
            is_kept = self._summaries.offer(row.id, summary, size)
            summary.has_room = is_kept and are_cards
        return [found[widget_id] for widget_id in ids]

    def _compatible(
        self, ids: Sequence[int], summaries: Sequence[_Summary], sdk: SemVer
    ) -> list[bytes]:
        """The newest compatible version of each, as JSON."""
        each = list(zip(ids, summaries, strict=True))
        new = [(widget_id, it) for widget_id, it in each if sdk not in it.compatible]
        found: dict[int, bytes | None] = {}
        if new:
            with self._reader.snapshot() as reading:
                for widget_id, summary in new:
                    record = self._reader.document(reading, widget_id)
                    found[widget_id] = self._find_compatible(record, summary, sdk)
        # Cached, because the same few SDKs are requested often.
        for widget_id, summary in new:
            entry = found[widget_id]
            if len(summary.compatible) < _REMEMBERED_SDKS and (
                entry is None or self._summaries.grow(widget_id, summary, len(entry))
            ):
                summary.compatible[sdk] = entry
        entries = [
            (summary, found[widget_id] if widget_id in found else summary.compatible[sdk])
            for widget_id, summary in each
        ]
        return [it.latest if entry is None else entry for it, entry in entries]

    def _find_compatible(
        self, record: DocumentRecord, summary: _Summary, sdk: SemVer
    ) -> bytes | None:
        """None: it is the latest version, as usual."""
        for _, sdk_version, is_yanked, *place in decode_outline(record.outline):
            if runs_on(sdk, sdk_version=sdk_version, is_yanked=is_yanked):
                if tuple(place) == summary.place:
                    return None
                entry = with_cdn(record.entry(*place), self._cdn_url)
                # Avoids a second copy in memory.
                return None if entry == summary.latest else entry
        return b"null"
