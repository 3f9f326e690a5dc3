"""The publish form, as a browser sends it, and what its pages show."""

import json
from typing import Any

from support.browsing import Browsing, Files
from support.people import BUNDLE, manifest
from support.site import Reply
from support.site_with_people import People

PUBLISH = "/account/publish"


def files(
    name: str = "timer", js: bytes = BUNDLE, css: bytes = b"", **more: Any
) -> dict[str, bytes]:
    return {"manifest": json.dumps(manifest(name, **more)).encode(), "bundle": js, "style": css}


def send(browsing: Browsing, sent: Files, **fields: str) -> Reply:
    browsing.get(PUBLISH)
    return browsing.submit_files(PUBLISH, sent, **fields)


def pending(browsing: Browsing, sent: Files, **fields: str) -> str:
    """The page to confirm the upload."""
    response = send(browsing, sent, **fields)
    assert response.status == 303, browsing.page.one("main").text
    place = response.headers["location"]
    assert browsing.get(place).status == 200
    return place


def told(browsing: Browsing, field: str) -> list[str]:
    """The errors next to a field."""
    found = browsing.page.all("div", id=f"faults-{field}")
    return [it.text for it in found]


def facts(browsing: Browsing) -> dict[str, str]:
    page = browsing.page
    return {it.text: value.text for it, value in zip(page.all("dt"), page.all("dd"), strict=True)}


def uploaded(people: People) -> list[str]:
    return sorted(it.name for it in (people.site.settings.data / "uploads").iterdir())
