"""Helpers of tests of publishing: requests, and leftovers."""

import hashlib
from pathlib import Path
from typing import Any

from support.people import request_body
from support.site import Reply
from support.site_with_people import People
from widget_catalog.publishing.store import list_requests

PUBLISH = "/api/widgets/publish"
CSS = b".clock { color: red; }\n"
NO_REQUEST = {
    "error": "There is no such request to publish: it was never made by you, or it has expired. "
    "Start again."
}


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def styled(key: str = "ann/styled", version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    css = {"cssSize": len(CSS), "cssSha256Hash": sha(CSS)}
    return request_body(key, version, **more) | css


def local(url: str) -> str:
    return url.removeprefix("https://catalog.example")


def files(people: People) -> dict[str, list[str]]:
    """Every file of the bundles and the uploads."""
    folder = people.site.node.folder
    return {
        "bundles": sorted(str(it.relative_to(folder.bundles)) for it in _files(folder.bundles)),
        "uploads": sorted(it.name for it in _files(folder.uploads)),
    }


def _files(folder: Path) -> list[Path]:
    return [it for it in folder.rglob("*") if it.is_file()]


def told(response: Reply) -> tuple[int, Any]:
    return response.status, response.json()


def errors(response: Reply) -> str:
    assert response.status == 400, response.body
    return str(response.json()["error"])


def rows(people: People) -> list[Any]:
    with people.site.node.store.reading() as connection:
        return [it for it in list_requests(connection) if it.confirmed_at is None]
