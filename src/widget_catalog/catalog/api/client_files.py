"""The JavaScript client over HTTP: `/client/v1/client.js` and its types, for any origin."""

import hashlib
from functools import cache

from ...core.http.conditional import content_response
from ...core.http.content import Content
from ...core.http.errors import error
from ...core.http.http import CORS, NOSNIFF, Headers, Request, Response
from ...core.http.rendering import STATIC

PREFIX = "/client/"

_FOLDER = "/client/v1/"
_SCRIPT = "client.js"
_KINDS = {".js": "text/javascript", ".d.ts": "text/plain"}
_AN_HOUR = "public, max-age=3600"
_FOR_GOOD = "public, max-age=31536000, immutable"


_File = tuple[Content, Headers]


def serve_client_file(request: Request) -> Response:
    if request.method != "GET" and request.method != "HEAD":
        sentence = "The client can be read, and nothing else; use GET, HEAD."
        return error(405, sentence, ("allow", "GET, HEAD"), CORS)
    file = _files().get(request.path)
    if file is None:
        return error(404, f"There is no file of the client at {request.path[:200]}.", CORS)
    return content_response(request.headers, *file)


def list_client_files() -> list[str]:
    return list(_files())


@cache
def _files() -> dict[str, _File]:
    """By path. One path of the script never changes; the other depends on the release."""
    script = (STATIC / "client" / _SCRIPT).read_bytes()
    digest = hashlib.sha256(script).hexdigest()[:16]
    files = {
        _FOLDER + _SCRIPT: _file(script, "text/javascript", _AN_HOUR),
        f"{_FOLDER}client.{digest}.js": _file(script, "text/javascript", _FOR_GOOD),
    }
    for path in sorted((STATIC / "client").iterdir()):
        kind = _KINDS.get("".join(path.suffixes))
        if kind is not None and path.name != _SCRIPT:
            files[_FOLDER + path.name] = _file(path.read_bytes(), kind, _AN_HOUR)
    return files


def _file(body: bytes, content_type: str, caching: str) -> _File:
    headers = [
        ("content-type", f"{content_type}; charset=utf-8"),
        ("cache-control", caching),
        ("vary", "accept-encoding"),
        ("cross-origin-resource-policy", "cross-origin"),
        CORS,
        NOSNIFF,
    ]
    return Content(body), headers
