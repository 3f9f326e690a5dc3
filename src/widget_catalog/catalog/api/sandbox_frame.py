"""The frame in which one widget runs, for dashboards of any site: `/frame/v1`."""

from widget_contract.frame import frame_headers

from ...core.http.conditional import content_response
from ...core.http.content import Content
from ...core.http.errors import error
from ...core.http.http import CORS, Headers, Request, Response
from ...core.http.rendering import STATIC

PREFIX = "/frame/"
PATH = "/frame/v1"

_CACHING: Headers = [("cache-control", "public, max-age=3600"), ("vary", "accept-encoding")]


def frame_document() -> bytes:
    return (STATIC / "client" / "frame.html").read_bytes()


class SandboxFrame:
    def __init__(self, origins: str, embed_origins: str) -> None:
        """`origins`: the only sites that may embed it; empty: any. Previews that others embed
        contain it, so those of `embed_origins` are admitted as well.
        """
        document = frame_document()
        ancestors = f"'self' {origins} {embed_origins}".rstrip() if origins else ""
        self._content = Content(document)
        self._headers = [*frame_headers(document.decode(), ancestors), *_CACHING]

    def serve(self, request: Request) -> Response:
        if request.path != PATH:
            return error(404, f"There is no frame at {request.path[:200]}; it is {PATH}.", CORS)
        if request.method not in ("GET", "HEAD"):
            sentence = "The frame can be read, and nothing else; use GET, HEAD."
            return error(405, sentence, ("allow", "GET, HEAD"), CORS)
        return content_response(request.headers, self._content, self._headers)
