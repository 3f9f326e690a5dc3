"""Content negotiation and conditional requests: encoding, language, 304, range."""

import asyncio
import re
from email.utils import formatdate
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from ..files.contract import Encoding
from ..languages.language import ENGLISH, Language, parse_languages
from .content import ENCODINGS, MIN_COMPRESSED_BYTES, AnyContent, Content, LargeContent
from .http import HeaderLookup, Headers, LargeBody, Request, Response
from .rendering import local_path

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z", re.IGNORECASE)
_TAG = re.compile(r'(?:\A|,)[ \t]*(?:W/)?("[^"]*"|\*)[ \t]*(?=,|\Z)')
# Longer headers are not kept in memory.
_MAX_REMEMBERED = 200
_WEIGHT = re.compile(r";\s*q\s*=\s*([0-9.]+)\s*(?:;|\Z)")


def choose_encoding(accept: str, offered: tuple[Encoding, ...] = ENCODINGS) -> Encoding | None:
    """The best encoding that an Accept-Encoding header allows; None for identity."""
    choose = _choose if len(accept) < _MAX_REMEMBERED else _choose.__wrapped__
    return choose(accept, offered)


@lru_cache(maxsize=1000)
def _choose(accept: str, offered: tuple[Encoding, ...]) -> Encoding | None:
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        name = part.partition(";")[0]
        weights.setdefault(name.strip(), _weight(part))
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    others = weights.get("*", 0.0)
    best: Encoding | None = None
    best_weight = weights.get("identity", 0.0)
    for encoding in offered:
        weight = weights.get(encoding, others)
        if (weight > 0 and weight > best_weight) or (weight == best_weight > 0 and best is None):
            best, best_weight = encoding, weight
    return best


def _weight(part: str) -> float:
    if ";" not in part:
        return 1.0
    found = _WEIGHT.search(part)
    try:
        return float(found.group(1)) if found else 0.0
    except ValueError:
        return 0.0


def accepts(accept: str, media_type: str) -> bool:
    """Whether an Accept header names this type, and does not refuse it with `q=0`."""
    for part in accept.lower().split(","):
        if part.partition(";")[0].strip() == media_type:
            weight = _WEIGHT.search(part)
            return weight is None or weight.group(1).strip("0.") != ""
    return False


def is_known(headers: HeaderLookup, etag: str) -> bool:
    """Whether the request's If-None-Match contains this ETag. Its lines form one list."""
    first = headers.get("if-none-match")
    if first is None:
        return False
    # Nearly always there is one tag, which costs one comparison.
    return first == etag or any(
        _matches(line, etag) for key, line in headers.items() if key == "if-none-match"
    )


def _matches(if_none_match: str, etag: str) -> bool:
    """Weak comparison: a weak tag has a prefix before its quotes."""
    named = _TAG.findall(if_none_match)
    return etag in named or "*" in named


@lru_cache(maxsize=1024)
def http_date(milliseconds: int) -> str:
    return formatdate(milliseconds // 1000, usegmt=True)


def choose_range(header: str, size: int) -> tuple[int, int] | None:
    """The bytes requested by a Range header, as start and stop; None: all of them.

    Raises ValueError if the range cannot be satisfied. A header that is not a single byte range is
    ignored, as HTTP allows.
    """
    found = _RANGE.match(header)
    if found is None or found.group(1) == found.group(2) == "":
        return None
    first, last = found.groups()
    if first == "":
        start, stop = max(size - int(last), 0), size
        if int(last) == 0:
            raise ValueError(header)
    else:
        start, stop = int(first), min(int(last) + 1 if last else size, size)
        if last and int(last) < start:
            return None
    if start >= size:
        raise ValueError(header)
    return start, stop


def content_response(
    requested: HeaderLookup, content: AnyContent, headers: Headers, status: int = 200
) -> Response:
    """Content in the encoding that a request with these headers prefers, or 304 if the client has
    it.

    The first header is the content type, which a 304 does not have.
    """
    if not isinstance(content, Content):
        return _large_response(requested, content, headers, status)
    body = content.body
    accept = requested.get("accept-encoding")
    encoding = None
    if accept is not None and len(body) >= MIN_COMPRESSED_BYTES:
        encoding = choose_encoding(accept)
    etag = f'"{content.tag}"' if encoding is None else f'"{content.tag}-{encoding}"'
    if status == 200 and "if-none-match" in requested and is_known(requested, etag):
        return Response(304, [*headers[1:], ("etag", etag)], None)
    if encoding is None:
        return Response(status, [*headers, ("etag", etag)], body)
    described = [*headers, ("etag", etag), ("content-encoding", encoding)]
    return Response(status, described, content.encoded(encoding))


def _large_response(
    requested: HeaderLookup, content: LargeContent, headers: Headers, status: int
) -> Response:
    """The same for large bodies, created by the binding: HEAD and 304 do not need them."""
    encoding = choose_encoding(requested.get("accept-encoding") or "", content.encodings)
    if encoding is not None:
        etag = f'"{content.tag}-{encoding}"'
        if status == 200 and is_known(requested, etag):
            return Response(304, [*headers[1:], ("etag", etag)], None)
        if content.is_offered(encoding):
            described = [*headers, ("etag", etag), ("content-encoding", encoding)]
            whole = content.whole(encoding)
            return Response(status, described, whole or LargeBody(content, encoding))
    etag = f'"{content.tag}"'
    if status == 200 and is_known(requested, etag):
        return Response(304, [*headers[1:], ("etag", etag)], None)
    whole = content.whole(None)
    return Response(status, [*headers, ("etag", etag)], whole or LargeBody(content, None))


COOKIE = "language"
QUERY = "lang"
SWITCH = "/language"
"""The path of the switch, with the chosen language in the query."""
A_YEAR_S = 365 * 86_400
_ASKED = re.compile(rf"(?:\A|[;&\s]){COOKIE}=([A-Za-z-]{{2,20}})(?=;|\s|\Z)")
_IN_QUERY = re.compile(rf"(?:\A|&){QUERY}=([A-Za-z-]{{2,20}})(?=&|\Z)")
# Longer headers, or more languages than anybody reads, are not looked at.
_MAX_CHARACTERS = 200


class Languages:
    """Which language a request gets, of those that are offered: the one of `lang` in the query, of
    the cookie that the switch in the footer sets, or of the browser's Accept-Language. The first is
    for those who read none of them. What is offered bounds the number of forms of a page, whatever
    clients ask for.
    """

    def __init__(self, tags: str = ENGLISH.tag) -> None:
        self.offered = parse_languages(tags)
        self._by_tag = {it.tag.lower(): it for it in self.offered}
        self._negotiate = lru_cache(maxsize=1000)(self._choose)
        self._loaded = {ENGLISH}

    def choose(self, request: Request) -> Language:
        if len(self.offered) == 1:
            return self.offered[0]
        if QUERY in request.query_string and (found := self.find_asked(request.query_string)):
            return found
        headers = request.headers
        if headers.get("cookie") is not None and (found := self._remembered(headers)):
            return found
        accepted = headers.get("accept-language")
        if accepted is None or len(accepted) > _MAX_CHARACTERS:
            return self.offered[0]
        return self._negotiate(accepted)

    async def load(self, language: Language) -> None:
        """Call this before the first use of a language."""
        if language not in self._loaded:
            await asyncio.to_thread(language.load)
            self._loaded.add(language)

    def find_asked(self, query_string: str) -> Language | None:
        """The one in a query."""
        asked = _IN_QUERY.search(query_string)
        return None if asked is None else self.find(asked[1])

    def find(self, tag: str) -> Language | None:
        return self._by_tag.get(tag.lower())

    def _remembered(self, headers: HeaderLookup) -> Language | None:
        for key, line in headers.items():
            if key == "cookie" and (asked := _ASKED.search(line)):
                return self.find(asked[1])
        return None

    def _choose(self, accepted: str) -> Language:
        """The most wanted one; of several, the first one named. `de-AT` is content with `de`."""
        wanted: dict[Language, float] = {}
        for part in accepted.split(","):
            tag = part.partition(";")[0].strip()
            found = self.find(tag) or self.find(tag.partition("-")[0])
            if tag == "*":
                found = self.offered[0]
            if found is not None:
                wanted[found] = max(wanted.get(found, 0.0), _weight(part))
        best = max(wanted, key=wanted.__getitem__, default=self.offered[0])
        return best if wanted.get(best) else self.offered[0]


def without_language(referer: str, root: str) -> str:
    """The local path and query of a page, without its language; the front page if it is none."""
    try:
        address = urlsplit(referer)
        fields = parse_qsl(address.query, keep_blank_values=True, max_num_fields=30)
    except ValueError:
        return "/"
    path = address.path.removeprefix(root) if address.path.startswith(f"{root}/") else "/"
    path = "/" + path.lstrip("/")
    query = urlencode([it for it in fields if it[0] != QUERY])
    return local_path(f"{path}?{query}" if query else path) or "/"
