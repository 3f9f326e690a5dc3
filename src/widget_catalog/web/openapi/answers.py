"""The answers of the OpenAPI document: headers, errors, and worked examples of every body."""

from typing import Any

import msgspec

from widget_contract.addresses import file_path
from widget_contract.wire import Size, VersionEntry

from .fields import ref

Answer = dict[str, Any]

_JSON = "application/json"
_OPEN = "Access-Control-Allow-Origin"


def headers() -> dict[str, Answer]:
    """Every response header worth knowing, by its own name."""
    return {
        "ETag": _header(
            "A strong entity tag of these very bytes, another one for each content encoding. "
            "Send it back in `If-None-Match`: while nothing has changed the answer is `304`.",
            '"e76c9d2df2587566-474a-zstd"',
        ),
        "Vary": _header(
            "The body comes as zstd, br, gzip or plain, by `Accept-Encoding`.", "accept-encoding"
        ),
        "Access-Control-Allow-Origin": _header("Pages of every origin may read this.", "*"),
        "Last-Modified": _header("When this last changed.", "Mon, 09 Feb 2026 09:15:00 GMT"),
        "Retry-After": {
            "description": "How many seconds to wait before a retry.",
            "required": True,
            "schema": {"type": "integer", "minimum": 0},
            "example": 5,
        },
        "Allow": _header("The supported methods.", "GET, HEAD, OPTIONS"),
        "Cache-Control": _header(
            "A published bundle never changes: keep it.", "public, max-age=31536000, immutable"
        ),
        "Accept-Ranges": _header("`Range` requests are supported.", "bytes"),
        "Content-Range": _header("Which bytes these are, of how many.", "bytes 0-1023/5515"),
        "Cross-Origin-Resource-Policy": _header("Every page may load it.", "cross-origin"),
    }


def errors() -> dict[str, Answer]:
    """The answers that several operations share, all with the one error body but the 304."""
    return {
        "NotModified": {
            "description": "You have it already: what `If-None-Match` names is what there is. "
            "No body.",
            "headers": sent("ETag"),
        },
        "InvalidQuery": _error(
            "A query parameter is invalid; the message says which, and why.",
            "compatSdk must be a semantic version with all three numbers, such as 1.2.0.",
            _OPEN,
        ),
        "WidgetNotFound": _error(
            "There is no such widget, or it is unlisted.",
            "There is no widget 'acme/sundial'.",
            _OPEN,
        ),
        "VersionNotFound": _error(
            "There is no such version, or its widget is unlisted.",
            "There is no version '9.9.9' of acme/clock.",
            _OPEN,
        ),
        "InvalidBody": _error(
            "The body is invalid; the message lists all errors.",
            "sdk: must be a semantic version, such as 1.2.0.",
            _OPEN,
        ),
        "ScopeNotFound": _error("There is no such scope.", "There is no scope 'nobody'."),
        "BundleNotFound": _error(
            "There is no such version, or its bundle is kept elsewhere: go by its `bundleUrl`.",
            "There is no bundle at /cdn/@acme/clock/9.9.9/index.js.",
            _OPEN,
        ),
        "Revoked": _error(
            "The version was revoked: its bundle must not run.",
            "This version was revoked, and must not be used: It sends settings to a stranger.",
            _OPEN,
        ),
        "NotKept": _error(
            "`since` is older than the retained changes: start over from the registries or a "
            "snapshot.",
            "Not all changes after 1 are kept any more. Start over from the registries.",
            _OPEN,
        ),
        "MethodNotAllowed": _error(
            "The method is not supported. `Allow` lists those that are.",
            "DELETE is not possible here; use GET, HEAD, OPTIONS.",
            "Allow",
        ),
        "AddressTooLong": _error(
            "Path and query together are over 8,192 characters. Only under `/api/`.",
            "The address is too long.",
        ),
        "RangeNotSatisfiable": _error(
            "The bundle has none of the bytes that `Range` asks for; `Content-Range` says how "
            "many it has.",
            "The bundle has no such bytes.",
            "Content-Range",
            _OPEN,
        ),
        "TooManyRequests": _error(
            "Too many requests from you. Only where the operator has set a limit; there is none "
            "by default. Wait as long as `Retry-After` says.",
            "Too many requests: at most 300/minute are answered. Try again in 12 seconds.",
            "Retry-After",
        ),
        "InternalFault": _error(
            "An internal error, logged for the operator.",
            "Something went wrong on our side. It has been logged.",
        ),
        "NotWritable": _error(
            "The download could not be counted at the moment; try again after `Retry-After`. If "
            "the catalog was only busy, this one may still be counted.",
            "The catalog is busy with a long write. Try again soon.",
            "Retry-After",
            _OPEN,
        ),
        "Unreadable": _error(
            "The catalog cannot be read at the moment; try again after `Retry-After`.",
            "The catalog cannot be read just now. Try again soon.",
            "Retry-After",
        ),
        "BundleMissing": _error(
            "The bundle is published, but the server cannot find its file.",
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
    """A JSON answer with one example and these headers."""
    return json_answers(about, schema, {"answer": ("Example response", example)}, *names)


def json_answers(
    about: str, schema: str, examples: dict[str, tuple[str, object]], *names: str
) -> Answer:
    """A JSON answer with several examples, each a summary and a value."""
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
