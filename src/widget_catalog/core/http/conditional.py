"""Conditional requests: content in the form that a client prefers, 304, and ranges."""

import re
from email.utils import formatdate
from functools import lru_cache

from .accept import choose_encoding
from .content import MIN_COMPRESSED_BYTES, AnyContent, Content, LargeContent
from .http import HeaderLookup, Headers, LargeBody, Response

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z", re.IGNORECASE)
_TAG = re.compile(r'(?:\A|,)[ \t]*(?:W/)?("[^"]*"|\*)[ \t]*(?=,|\Z)')


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
    """A large content, which the binding sends: HEAD and 304 do not need its body."""
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
