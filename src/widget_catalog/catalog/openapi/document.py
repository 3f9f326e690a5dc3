"""The OpenAPI 3.1 document of the public API, for `/openapi.json` and `/docs/api`.

`docs/openapi.json` is the committed copy; `python -m widget_catalog.catalog.openapi` prints it.
"""

import json

from ...core import release
from .answers import errors, headers
from .operations import INTEGRATORS, OPERATIONS
from .paths import parameters, paths
from .schemas import schemas

_ABOUT = """\
Search a catalog of dashboard widgets, get the requirements of each version, load bundles,
and count installs.

**Authentication.** None: no account, no key, no cookie. Publishing is not part of this API; it
has its own command-line tool.

**Responses** are JSON in UTF-8. All timestamps are ISO 8601 in UTC, with milliseconds. Unknown
query parameters are ignored; if a parameter is repeated, the first value is used. Unknown keys in
a request body are an error. Paths with a trailing slash do not exist.

**Errors** have an appropriate status, and always the same body, `{"error": "…"}`, with a
human-readable message. Use the status in your code; the message may change.

**CORS.** Everything under `/api/v1/widgets/` and `/cdn/` can be read from any origin: responses
and errors have `Access-Control-Allow-Origin: *`, and a preflight request (`OPTIONS`) returns
`204`. Other paths do not have this header.

**Caching.** Responses to `GET` have a strong `ETag`. Send it in `If-None-Match` to get a `304`
without a body if nothing has changed. Bodies are compressed (zstd, br, gzip) if the client
accepts it. `HEAD` is supported wherever `GET` is.

**Rate limits.** There is no rate limit by default. An operator may set one; a `429` then has the
number of seconds to wait in `Retry-After`.

**Versioning.** `/api/v1/` is stable: breaking changes are made under a new prefix, and the old
one is kept for a while. New fields in responses are not a breaking change: ignore those you do
not know. The registry, the URLs of bundles and the operational endpoints are not
covered.
"""


def openapi(service_name: str, base_url: str) -> dict[str, object]:
    """The whole document, for a service with this name and base URL."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{service_name} API",
            "summary": "The public HTTP API of a catalog of dashboard widgets.",
            "description": _ABOUT,
            "version": release.VERSION,
            "contact": {"name": service_name, "url": base_url},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url, "description": "This service."}],
        "security": [],
        "tags": [
            {
                "name": INTEGRATORS,
                "description": "For dashboards: find and load widgets, and count installs.",
            },
            {
                "name": OPERATIONS,
                "description": "For operators, and for the service's own tools. Not stable: do not "
                "build integrations on these.",
            },
        ],
        "paths": paths(base_url),
        "components": {
            "schemas": schemas(),
            "responses": errors(),
            "parameters": parameters(),
            "headers": headers(),
        },
    }


def printed(document: dict[str, object]) -> str:
    """As JSON, as in the committed copy."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
