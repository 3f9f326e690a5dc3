"""Operations for the files of a version: its bundle and its style sheet."""

from .answers import Answer, sent, shared
from .operations import operation, parameter

_KEPT = ("ETag", "Cache-Control", "Accept-Ranges")
_OPEN = ("Access-Control-Allow-Origin", "Cross-Origin-Resource-Policy")


def file_paths(base_url: str) -> dict[str, object]:
    place = "/cdn/@{scope}/{name}/{version}"
    parameters = [parameter("scope"), parameter("name"), parameter("version")]
    return {
        f"{place}/index.js": {"parameters": parameters, "get": _bundle(base_url)},
        f"{place}/index.css": {"parameters": parameters, "get": _style_sheet(base_url)},
    }


def _bundle(base_url: str) -> Answer:
    return operation(
        "getBundle",
        "Get a bundle",
        "Returns the JavaScript of a version, an ES module that any origin may `import()`. It is "
        "immutable, so it can be cached indefinitely; its `ETag` is its SHA-256. Range requests "
        "are supported.\n\n"
        "Use a version's `bundleUrl` instead of building this URL: bundles may be served by a "
        "separate CDN. Bundles of yanked versions and of unlisted widgets remain available; "
        "bundles of revoked versions do not.",
        f"curl -O '{base_url}/cdn/@catalog/clock/2.0.0/index.js'",
        _answers(
            "bundle",
            "text/javascript",
            "export default { mount(element, context) { /* … */ } };\n",
        ),
    )


def _style_sheet(base_url: str) -> Answer:
    return operation(
        "getStyleSheet",
        "Get a style sheet",
        "Returns the CSS of a version that has a style sheet. Whether it has one, and its hash, "
        "are in the `files` of the version; use their `url` instead of building this URL. Caching "
        "and availability are those of the bundle.",
        f"curl -O '{base_url}/cdn/@acme/board/1.0.0/index.css'",
        _answers("style sheet", "text/css", ".clock { color: var(--text, inherit); }\n"),
    )


def _answers(what: str, media_type: str, example: str) -> dict[str, Answer]:
    content = {media_type: {"schema": {"type": "string"}, "example": example}}
    return {
        "200": {
            "description": f"The whole {what}.",
            "headers": sent(*_KEPT, *_OPEN),
            "content": content,
        },
        "206": {
            "description": f"The requested range of the {what}.",
            "headers": sent(*_KEPT, *_OPEN, "Content-Range"),
            "content": content,
        },
        "304": shared("NotModified"),
        "404": shared("BundleNotFound"),
        "410": shared("Revoked"),
        "416": shared("RangeNotSatisfiable"),
        "503": shared("BundleMissing"),
    }
