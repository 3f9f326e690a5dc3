"""Examples of the responses for dashboards that run widgets."""

import msgspec

from widget_contract.wire_running import DeclaredDetails

from .answers import Answer, detail_example

_HASH = "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174"


def version_example(base_url: str) -> Answer:
    detail = detail_example(base_url)
    entry = detail["versions"][0]
    bundle = {
        "path": "index.js",
        "url": entry["bundleUrl"],
        "size": entry["bundleSize"],
        "sha256Hash": entry["sha256Hash"],
        "integrity": "sha256-yBwr2YMsoECvCuBgsl0V+/78hDuEN1zotF9erjDnEXQ=",
        "contentType": "text/javascript",
    }
    style_sheet = {
        "path": "index.css",
        "url": entry["bundleUrl"].replace("index.js", "index.css"),
        "size": 312,
        "sha256Hash": "d5afb4ddddb55811443d81e5d14fcf22b5a9d9aec1c8cbc47ffb11d281ea0a7e",
        "integrity": "sha256-1a+03d21WBFEPYHl0U/PIrWp2a7ByMvEf/sR0oHqCn4=",
        "contentType": "text/css",
    }
    return {
        "widget": detail["widget"],
        "version": entry,
        "manifest": {"name": "clock", "displayName": "Clock", "version": entry["version"]},
        "files": [bundle, style_sheet],
        "permissionsAdded": [],
        "permissionsRemoved": [],
        "previousVersion": "1.1.0",
        "revoked": None,
        "capabilities": [],
        **detail_examples(),
    }


def detail_examples() -> Answer:
    """The example of each field of `DeclaredDetails`."""
    return {
        it.encode_name: example
        for it in msgspec.structs.fields(DeclaredDetails)
        for meta in it.type.__metadata__
        for example in meta.examples or ()
    }


def resolve_examples(base_url: str) -> tuple[Answer, Answer]:
    """A request and its response."""
    offer = detail_example(base_url)["versions"][0]
    asked = {"sdk": "2.1.0", "widgets": [{"id": "catalog/clock"}, {"id": "acme/sundial"}]}
    nothing: Answer = {"permissionsAdded": [], "permissionsRemoved": []}
    number = offer["version"]
    results = [
        {
            "id": "catalog/clock",
            "status": "install",
            "installed": None,
            "offer": offer,
            "latestVersion": number,
            **nothing,
            "message": f"catalog/clock {number} can be installed.",
        },
        {
            "id": "acme/sundial",
            "status": "unknown",
            "installed": None,
            "offer": None,
            "latestVersion": None,
            **nothing,
            "message": "This catalog does not know acme/sundial.",
        },
    ]
    return asked, {"sdk": "2.1.0", "revision": 4711, "results": results}


def changes_example() -> Answer:
    change = {
        "seq": 4711,
        "at": "2026-02-09T09:15:00.000Z",
        "type": "published",
        "id": "catalog/clock",
        "version": "2.0.0",
        "listed": True,
    }
    return {"changes": [change], "next": 4711, "newest": 4711}


def revocations_example() -> Answer:
    revoked = {
        "sha256Hash": _HASH,
        "id": "catalog/clock",
        "version": "2.0.0",
        "reason": "It sends settings to a stranger.",
        "at": "2026-02-09T09:15:00.000Z",
    }
    return {"revision": 4711, "revocations": [revoked]}
