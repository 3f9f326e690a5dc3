"""Turns content into a response; used by API and pages alike."""

from .conditional import choose_encoding, is_known
from .content import MIN_COMPRESSED_BYTES, Content
from .http import Headers, LargeBody, Request, Response
from .large_content import AnyContent, LargeContent


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
