"""Content negotiation and conditional requests: encoding, 304, range."""

import re
from email.utils import formatdate
from functools import lru_cache

from ..files.contract import Encoding
from .content import ENCODINGS, MIN_COMPRESSED_BYTES, AnyContent, Content, LargeContent
from .http import HeaderLookup, Headers, LargeBody, Request, Response

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
    request: Request, content: AnyContent, headers: Headers, status: int = 200
) -> Response:
    """Content in the encoding that the request prefers, or 304 if the client has it.

    The first header is the content type, which a 304 does not have.
    """
    if not isinstance(content, Content):
        return _large_response(request, content, headers, status)
    body = content.body
    etag = f'"{content.tag}"'
    lookup = request.headers
    accept = lookup.get("accept-encoding")
    encoding = None
    if accept is not None and len(body) >= MIN_COMPRESSED_BYTES:
        encoding = choose_encoding(accept)
        if encoding is not None:
            etag = f'"{content.tag}-{encoding}"'
    if status == 200 and is_known(lookup, etag):
        return Response(304, [*headers[1:], ("etag", etag)], None)
    if encoding is None:
        return Response(status, [*headers, ("etag", etag)], body)
    described = [*headers, ("etag", etag), ("content-encoding", encoding)]
    return Response(status, described, content.encoded(encoding))


def _large_response(
    request: Request, content: LargeContent, headers: Headers, status: int
) -> Response:
    """The same for large bodies, created by the binding: HEAD and 304 do not need them."""
    lookup = request.headers
    encoding = choose_encoding(lookup.get("accept-encoding") or "", content.encodings)
    if encoding is not None:
        etag = f'"{content.tag}-{encoding}"'
        if status == 200 and is_known(lookup, etag):
            return Response(304, [*headers[1:], ("etag", etag)], None)
        if content.is_offered(encoding):
            described = [*headers, ("etag", etag), ("content-encoding", encoding)]
            whole = content.whole(encoding)
            return Response(status, described, whole or LargeBody(content, encoding))
    etag = f'"{content.tag}"'
    if status == 200 and is_known(lookup, etag):
        return Response(304, [*headers[1:], ("etag", etag)], None)
    whole = content.whole(None)
    return Response(status, [*headers, ("etag", etag)], whole or LargeBody(content, None))
