"""The responses of the OpenAPI document: headers, errors, and examples of every body."""

from typing import Any

import msgspec

from widget_contract.addresses import file_path
from widget_contract.wire import Size, VersionEntry

from .fields import ref

Answer = dict[str, Any]

_JSON = "application/json"
_OPEN = "Access-Control-Allow-Origin"


def headers() -> dict[str, Answer]:
    """Every documented response header, by name."""
    return {
        "ETag": _header(
            "A strong entity tag, different for each content encoding. Send it in `If-None-Match` "
            "to get a `304` if nothing has changed.",
            '"e76c9d2df2587566-474a-zstd"',
        ),
        "Vary": _header(
            "The body is compressed as `Accept-Encoding` allows.",
            "accept-encoding",
        ),
        "Access-Control-Allow-Origin": _header("All origins may read the response.", "*"),
        "Last-Modified": _header("Time of the last change.", "Mon, 09 Feb 2026 09:15:00 GMT"),
        "Retry-After": {
            "description": "Seconds to wait before the next attempt.",
            "required": True,
            "schema": {"type": "integer", "minimum": 0},
            "example": 5,
        },
        "Allow": _header("The allowed methods.", "GET, HEAD, OPTIONS"),
        "Cache-Control": _header(
            "A published bundle is immutable.", "public, max-age=31536000, immutable"
        ),
        "Accept-Ranges": _header("Range requests are supported.", "bytes"),
        "Content-Range": _header("The returned bytes, and the total size.", "bytes 0-1023/5515"),
        "Cross-Origin-Resource-Policy": _header("All origins may load the bundle.", "cross-origin"),
    }


def errors() -> dict[str, Answer]:
    """Responses that several operations share. All except the 304 have the same error body."""
    return {
        "NotModified": {
            "description": "Not modified: `If-None-Match` has the current entity tag. No body.",
            "headers": sent("ETag"),
        },
        "InvalidQuery": _error(
            "A query parameter is invalid; the message says which and why.",
            "compatSdk must be a semantic version with all three numbers, such as 1.2.0.",
            _OPEN,
        ),
        "WidgetNotFound": _error(
            "The widget does not exist or is unlisted.",
            "There is no widget 'acme/sundial'.",
            _OPEN,
        ),
        "VersionNotFound": _error(
            "The version does not exist, or its widget is unlisted.",
            "There is no version '9.9.9' of acme/clock.",
            _OPEN,
        ),
        "InvalidBody": _error(
            "The body is invalid; the message lists all errors.",
            "widgets[0].version: is an unknown key; did you mean installed?",
            _OPEN,
        ),
        "ScopeNotFound": _error("The scope does not exist.", "There is no scope 'nobody'."),
        "BundleNotFound": _error(
            "The version does not exist, has no such file, or its bundle is hosted elsewhere: use "
            "its `bundleUrl`.",
            "There is no bundle at /cdn/@acme/clock/9.9.9/index.js.",
            _OPEN,
        ),
        "Revoked": _error(
            "The version was revoked: its bundle must not run.",
            "This version was revoked, and must not be used: It sends settings to a stranger.",
            _OPEN,
        ),
        "NotKept": _error(
            "`since` is older than the retained changes: start over from the registries.",
            "Not all changes after 1 are kept any more. Start over from the registries.",
            _OPEN,
        ),
        "MethodNotAllowed": _error(
            "The method is not allowed. `Allow` lists the allowed methods.",
            "DELETE is not possible here; use GET, HEAD, OPTIONS.",
            "Allow",
        ),
        "AddressTooLong": _error(
            "Path and query are longer than 8,192 characters. Only under `/api/`.",
            "The address is too long.",
        ),
        "RangeNotSatisfiable": _error(
            "The requested range is outside the bundle; `Content-Range` has its size.",
            "The bundle has no such bytes.",
            "Content-Range",
            _OPEN,
        ),
        "TooManyRequests": _error(
            "Too many requests. Only if the operator has set a rate limit; there is none by "
            "default. Wait for the time in `Retry-After`.",
            "Too many requests: at most 300/minute are answered. Try again in 12 seconds.",
            "Retry-After",
        ),
        "InternalFault": _error(
            "An internal error, which has been logged.",
            "Something went wrong on our side. It has been logged.",
        ),
        "NotWritable": _error(
            "The download could not be counted; try again after `Retry-After`. If the catalog was "
            "only busy, this request may still be counted.",
            "The catalog is busy with a long write. Try again soon.",
            "Retry-After",
            _OPEN,
        ),
        "Unreadable": _error(
            "The catalog is temporarily unavailable; try again after `Retry-After`.",
            "The catalog cannot be read just now. Try again soon.",
            "Retry-After",
        ),
        "BundleMissing": _error(
            "The bundle is published, but its file is missing on the server.",
            "This bundle is missing on the server.",
            _OPEN,
        ),
    }


def sent(*names: str) -> Answer:
    """These headers, by reference."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def shared(name: str) -> Answer:
    return {"$ref": f"#/components/responses/{name}"}


def json_answer(about: str, schema: str, example: object, *names: str) -> Answer:
    """A JSON response with one example and these headers."""
    return json_answers(about, schema, {"answer": ("Example response", example)}, *names)


def json_answers(
    about: str, schema: str, examples: dict[str, tuple[str, object]], *names: str
) -> Answer:
    """A JSON response with several examples, each a summary and a value."""
    described = {
        key: {"summary": summary, "value": value} for key, (summary, value) in examples.items()
    }
    return {
        "description": about,
        "headers": sent(*names),
        "content": {_JSON: {"schema": ref(schema), "examples": described}},
    }


def search_examples(base_url: str) -> dict[str, tuple[str, object]]:
    found = {**_widget_texts(), "downloadCount": 18250, "latestVersion": version_entry(base_url)}
    compatible = {**found, "latestCompatibleVersion": version_entry(base_url)}
    rest = {"total": 1, "page": 1, "limit": 20}
    return {
        "plain": ("?q=clock&scope=catalog", {"widgets": [found], **rest}),
        "compatSdk": ("?q=clock&compatSdk=1.2.0", {"widgets": [compatible], **rest}),
        "nothing": ("?q=sundial", {"widgets": [], **rest, "total": 0}),
    }


def detail_example(base_url: str) -> Answer:
    created = {"downloadCount": 18250, "createdAt": "2025-03-03T08:00:00.000Z"}
    return {
        "widget": {**_widget_texts(), **created},
        "versions": [version_entry(base_url)],
        "latestVersion": "2.0.0",
    }


def registry_example(base_url: str) -> Answer:
    versions = {"latestVersion": "2.0.0", "versions": [version_entry(base_url)]}
    return {
        "version": 1,
        "scope": "catalog",
        "generatedAt": "2026-02-09T09:15:00.000Z",
        "baseUrl": f"{base_url}/cdn/",
        "widgets": [{**_widget_texts(), **versions}],
    }


def version_entry(base_url: str) -> Answer:
    entry = VersionEntry(
        scope="catalog",
        name="clock",
        version="2.0.0",
        bundle_url=f"{base_url}/cdn{file_path('catalog', 'clock', '2.0.0', 'js')}",
        bundle_size=5515,
        sha256_hash="c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
        published_at="2026-02-09T09:15:00.000Z",
        yanked=False,
        yanked_reason=None,
        deprecation_message=None,
        release_notes="- New setting `face`: `analogue` or `digital`",
        display_name="Clock",
        description="An analogue face beside the figures, in any time zone.",
        icon="mdi:clock-outline",
        min_size=Size(2, 2),
        max_size=Size(6, 6),
        sdk_version="1.x || 2.x",
        config_version=2,
        permissions=(),
        license="MIT",
    )
    shown: Answer = msgspec.json.decode(msgspec.json.encode(entry))
    return shown


def _widget_texts() -> Answer:
    return {
        "scope": "catalog",
        "name": "clock",
        "displayName": "Clock",
        "description": "An analogue face beside the figures, in any time zone.",
        "icon": "mdi:clock-outline",
        "isOfficial": True,
    }


def _header(about: str, example: str) -> Answer:
    schema = {"type": "string"}
    return {"description": about, "required": True, "schema": schema, "example": example}


def _error(about: str, example: str, *names: str) -> Answer:
    return {
        "description": about,
        **({"headers": sent(*names)} if names else {}),
        "content": {_JSON: {"schema": ref("Error"), "example": {"error": example}}},
    }
