"""Examples of request and response bodies, by the name of their schema."""

from typing import Any

import msgspec

from widget_contract.manifest_details import DeclaredDetails
from widget_contract.version_files import file_path
from widget_contract.wire import CliVersion, ServiceVersion, Size, VersionEntry
from widget_contract.wire_running import Change, Changes, PublishedFile, Revocation

from ...core import release
from ..settings import CatalogSettings

Object = dict[str, Any]

_HASH = "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174"
_STYLE_HASH = "d5afb4ddddb55811443d81e5d14fcf22b5a9d9aec1c8cbc47ffb11d281ea0a7e"
_AT = "2026-02-09T09:15:00.000Z"
_HEAD = {
    "scope": "catalog",
    "name": "clock",
    "displayName": "Clock",
    "description": "An analogue face beside the figures, in any time zone.",
    "icon": "mdi:clock-outline",
    "isOfficial": True,
}
_REQUEST = {"sdk": "2.1.0", "widgets": [{"id": "catalog/clock"}, {"id": "acme/sundial"}]}


def examples(base_url: str) -> Object:
    """Those of a response have a summary each; that of a request is the value alone."""
    entry = _entry(base_url)
    widget = {**_HEAD, "downloadCount": 18250, "createdAt": "2025-03-03T08:00:00.000Z"}
    found = {**_HEAD, "downloadCount": 18250, "latestVersion": entry}
    page = {"total": 1, "page": 1, "limit": 20}
    compatible = {**found, "latestCompatibleVersion": entry}
    searches = {
        "plain": ("?q=clock&scope=catalog", {"widgets": [found], **page}),
        "compatSdk": ("?q=clock&compatSdk=1.2.0", {"widgets": [compatible], **page}),
        "nothing": ("?q=sundial", {"widgets": [], **page, "total": 0}),
    }
    change = Change(4711, _AT, "published", "catalog/clock", "2.0.0", True)
    reason = "It sends settings to a stranger."
    revoked = _json(Revocation(_HASH, "catalog/clock", "2.0.0", reason, _AT))
    stats = {"widgets": 18, "versions": 49, "scopes": 4, "downloads": 99670}
    responses = {
        "WidgetDetail": {"widget": widget, "versions": [entry], "latestVersion": "2.0.0"},
        "Counted": {"success": True},
        "VersionDetail": _version(widget, entry),
        "Resolved": {"sdk": "2.1.0", "revision": 4711, "results": _results(entry)},
        "Changes": _json(Changes((change,), 4711, 4711)),
        "Revocations": {"revision": 4711, "revocations": [revoked]},
        "Registry": {
            "version": 1,
            "scope": "catalog",
            "generatedAt": _AT,
            "baseUrl": f"{base_url}/cdn/",
            "widgets": [{**_HEAD, "latestVersion": "2.0.0", "versions": [entry]}],
        },
        "Health": {"status": "ok", "checks": {"database": "ok", "bundles": "ok"}},
        "HealthFault": {
            "status": "unavailable",
            "checks": {"database": "ok", "bundles": "failing"},
            "error": "The folder of the bundles cannot be read.",
        },
        "ServiceVersion": _json(
            ServiceVersion(release.VERSION, release.RELEASED_AT, release.API_VERSIONS)
        ),
        "CliVersion": _json(CliVersion(CatalogSettings.min_cli_version, release.CLI_LATEST)),
        "Stats": {**stats, "generatedAt": _AT},
        "Settings": {
            "serviceName": "Widget Catalog",
            "baseUrl": base_url,
            "cdnBaseUrl": f"{base_url}/cdn",
            "signIn": [],
            "cliClientId": "widget-cli",
            "registrationOpen": False,
            "maxBundleBytes": 2097152,
            "apiVersions": list(release.API_VERSIONS),
            "acceptsFiles": True,
        },
    }
    only = {name: {"answer": ("Example response", it)} for name, it in responses.items()}
    described: Object = {"SearchResults": searches, **only}
    return {"ResolveRequest": _REQUEST} | {
        name: {key: {"summary": it[0], "value": it[1]} for key, it in some.items()}
        for name, some in described.items()
    }


def _entry(base_url: str) -> Object:
    return _json(
        VersionEntry(
            scope="catalog",
            name="clock",
            version="2.0.0",
            bundle_url=f"{base_url}/cdn{file_path('catalog', 'clock', '2.0.0')}",
            bundle_size=5515,
            sha256_hash=_HASH,
            published_at=_AT,
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
    )


def _version(widget: Object, entry: Object) -> Object:
    address = entry["bundleUrl"]
    integrity = "sha256-yBwr2YMsoECvCuBgsl0V+/78hDuEN1zotF9erjDnEXQ="
    bundle = PublishedFile("index.js", address, 5515, _HASH, integrity, "text/javascript")
    address = address.replace("index.js", "index.css")
    integrity = "sha256-1a+03d21WBFEPYHl0U/PIrWp2a7ByMvEf/sR0oHqCn4="
    style_sheet = PublishedFile("index.css", address, 312, _STYLE_HASH, integrity, "text/css")
    picture = PublishedFile(
        "screenshots/light.png",
        address.replace("index.css", "screenshots/light.png"),
        48_213,
        _STYLE_HASH,
        integrity,
        "image/png",
        1280,
        800,
    )
    return {
        "widget": widget,
        "version": entry,
        "manifest": {"name": "clock", "displayName": "Clock", "version": entry["version"]},
        "files": [_json(it) for it in (bundle, style_sheet, picture)],
        "permissionsAdded": [],
        "permissionsRemoved": [],
        "previousVersion": "1.1.0",
        "revoked": None,
        "capabilities": [],
        **detail_examples(),
    }


def detail_examples() -> Object:
    """The example of each field of `DeclaredDetails`."""
    return {
        it.encode_name: example
        for it in msgspec.structs.fields(DeclaredDetails)
        for meta in it.type.__metadata__
        for example in meta.examples or ()
    }


def _results(offer: Object) -> list[Object]:
    def result(key: str, status: str, offered: Object | None, message: str) -> Object:
        return {
            "id": key,
            "status": status,
            "installed": None,
            "offer": offered,
            "latestVersion": None if offered is None else offered["version"],
            "permissionsAdded": [],
            "permissionsRemoved": [],
            "message": message,
        }

    return [
        result("catalog/clock", "install", offer, "catalog/clock 2.0.0 can be installed."),
        result("acme/sundial", "unknown", None, "This catalog does not know acme/sundial."),
    ]


def _json(value: msgspec.Struct) -> Object:
    shown: Object = msgspec.json.decode(msgspec.json.encode(value))
    return shown
