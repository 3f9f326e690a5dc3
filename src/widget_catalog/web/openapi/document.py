"""The OpenAPI 3.1 document of the public surface: what `/openapi.json` and `/docs/api` show.

`docs/openapi.json` is the committed copy; `python -m widget_catalog.web.openapi` prints it.
"""

import json

from ... import release
from .answers import errors, headers
from .operations import INTEGRATORS, OPERATIONS
from .paths import parameters, paths
from .schemas import schemas

_ABOUT = """\
Search a catalog of dashboard widgets, read what each of their versions needs, load the
bundles, count the installs.

**Access.** Everything here is open: no account, no key, no cookie. Publishing is not part of
this API; it has its own command-line tool.

**Answers** are JSON in UTF-8. Every timestamp is ISO 8601 in UTC with milliseconds. Query
parameters that are not named here are ignored; of one given twice, the first counts. A slash
at the end makes another address, which does not exist.

**Errors** have a fitting status and always the same body, `{"error": "…"}`, with a sentence
for people. Go by the status; the sentence may change.

**Other origins.** Everything under `/api/v1/widgets/` and `/cdn/` may be read by pages of any
origin: answers and errors carry `Access-Control-Allow-Origin: *`, and `OPTIONS` answers a
preflight with `204`. The other addresses carry no such header.

**Caching.** `GET` answers have a strong `ETag`; send it in `If-None-Match` and an unchanged
answer costs you a `304` without a body. Bodies are compressed (zstd, br, gzip) for those who
accept that. `HEAD` works wherever `GET` does.

**Limits.** There is no rate limit by default. An operator may set one; then `429` says in
`Retry-After` how many seconds to wait.

**Versions.** `/api/v1/` is stable: what would break a client goes to a new prefix, and the
old one is kept for a while. The registry, the bundles' addresses and the operations'
endpoints are not part of that promise.
"""


def openapi(service_name: str, base_url: str) -> dict[str, object]:
    """The whole document, for a service of this name at this address."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{service_name} API",
            "summary": "The public HTTP API of a catalog of dashboard widgets.",
            "description": _ABOUT,
            "version": release.VERSION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url, "description": "This service."}],
        "tags": [
            {
                "name": INTEGRATORS,
                "description": "For dashboards: find widgets, load them, count installs.",
            },
            {
                "name": OPERATIONS,
                "description": "For those who run the service, and for its own tools. Without a "
                "promise of stability: do not build an integration on these.",
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
    """As the committed copy has it."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
