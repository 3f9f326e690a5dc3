"""The API's expected output for an imported line, written by hand from the contract."""

from typing import Any
from urllib.parse import quote

from support.site import InProcessSite

SEARCH = "/api/v1/widgets/search"


def entry(widget: dict[str, Any], version: dict[str, Any]) -> dict[str, Any]:
    """A VersionEntry."""
    return {
        "scope": widget["scope"],
        "name": widget["name"],
        "version": version["version"],
        "bundleUrl": version["bundleUrl"],
        "bundleSize": version["bundleSize"],
        "sha256Hash": version["sha256Hash"],
        "publishedAt": version["publishedAt"],
        "yanked": version.get("yanked", False),
        "yankedReason": version.get("yankedReason"),
        "deprecationMessage": version.get("deprecationMessage"),
        "releaseNotes": version.get("releaseNotes"),
        "displayName": version.get("displayName", widget["displayName"]),
        "description": version.get("description", widget["description"]),
        "icon": version.get("icon", widget["icon"]),
        "minSize": version["minSize"],
        "maxSize": version["maxSize"],
        "sdkVersion": version["sdkVersion"],
        "configVersion": version.get("configVersion"),
        "permissions": version.get("permissions", []),
        "license": version.get("license"),
    }


def summary(widget: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A WidgetSummary of a widget whose first version is its latest; `fields` override."""
    versions = widget["versions"]
    return {
        "scope": widget["scope"],
        "name": widget["name"],
        "displayName": widget["displayName"],
        "description": widget["description"],
        "icon": widget["icon"],
        "isOfficial": widget["isOfficial"],
        "downloadCount": widget["downloadCount"],
        "latestVersion": entry(widget, versions[0]) if versions else None,
        **fields,
    }


def found(site: InProcessSite, query: str = "", /, **parameters: str) -> list[str]:
    """The `scope/name` of every result, in order; all of them fit on one page."""
    pairs = [f"{key}={quote(value, safe='')}" for key, value in parameters.items()]
    response = site.get(f"{SEARCH}?{'&'.join(filter(None, [query, *pairs]))}")
    assert response.status == 200, response.body
    body = response.json()
    keys = [f"{it['scope']}/{it['name']}" for it in body["widgets"]]
    assert body["total"] == len(keys)
    return keys
