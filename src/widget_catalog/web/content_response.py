"""Ready content as a response: the one way out for whatever is read, from API and pages alike."""

from ..reading.content import MIN_COMPRESSED_BYTES, Content
from .conditional import choose_encoding, matches
from .http import HeaderLookup, Headers, Request, Response


def content_response(
    request: Request, content: Content, headers: Headers, status: int = 200
) -> Response:
    """Content in the encoding the request prefers, or 304 where it is already known.

    The first header is the content type, which a 304 does not have.
    """
    body = content.body
    etag = f'"{content.tag}"'
    lookup = request.headers
    accept = lookup.get("accept-encoding")
    encoding = None
    if accept is not None and len(body) >= MIN_COMPRESSED_BYTES:
        encoding = choose_encoding(accept)
        if encoding is not None:
            etag = f'"{content.tag}-{encoding}"'
    known = lookup.get("if-none-match")
    # Nearly always it is the one tag that was sent before: that costs a comparison.
    if known is not None and status == 200 and (known == etag or _names(lookup, etag)):
        return Response(304, [*headers[1:], ("etag", etag)], None)
    if encoding is None:
        return Response(status, [*headers, ("etag", etag)], body)
    described = [*headers, ("etag", etag), ("content-encoding", encoding)]
    return Response(status, described, content.encoded(encoding))


def _names(lookup: HeaderLookup, etag: str) -> bool:
    """Whether If-None-Match names the tag. Its lines are one list; a look-up gives one only."""
    lines = (value for key, value in lookup.items() if key == "if-none-match")
    return any(matches(line, etag) for line in lines)
