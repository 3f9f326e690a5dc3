"""What to copy from the page of a version in order to run it."""

import base64
import re
from functools import lru_cache
from typing import NamedTuple

from widget_contract.semver import SemVer, is_compatible
from widget_contract.version_files import detail_path, style_address
from widget_contract.wire import VersionEntry
from widget_contract.wire_running import PublishedFile

from .cards import usual_size

# One cell of a dashboard, about 96 pixels.
_CELL_REM = 6
_NUMBERS = re.compile(r"(?<![\w.-])[0-9]{1,6}(?:\.[0-9]{1,6}){0,2}")
_MAX_RANGE = 200


class Use(NamedTuple):
    """The data needed to load a version."""

    bundle_url: str
    sha256_hash: str
    integrity: str
    style_url: str | None
    style_integrity: str | None
    api_url: str
    mount: str | None = None
    """A page that runs it in the sandbox; None if it is not offered."""
    load: str | None = None
    """One that loads it with the client."""

    @property
    def html(self) -> str:
        lines = [
            f'<link rel="modulepreload" href="{self.bundle_url}"',
            f'      integrity="{self.integrity}" crossorigin>',
        ]
        if self.style_url is not None:
            lines = [
                f'<link rel="stylesheet" href="{self.style_url}"',
                f'      integrity="{self.style_integrity}" crossorigin>',
                *lines,
            ]
        return "\n".join(
            [
                *lines,
                # A widget fills its element, so this needs a size of its own.
                '<div id="widget" style="height: 18rem"></div>',
                '<script type="module">',
                f'  import {{ mount }} from "{self.bundle_url}";',
                '  mount(document.querySelector("#widget"), { config: {}, locale: "en" });',
                "</script>",
            ]
        )

    @property
    def javascript(self) -> str:
        return "\n".join(
            [
                f'const response = await fetch("{self.bundle_url}", {{',
                f'  integrity: "{self.integrity}",',
                "});",
                'const module = new Blob([await response.blob()], { type: "text/javascript" });',
                "const { mount } = await import(URL.createObjectURL(module));",
                'const place = document.body.appendChild(document.createElement("div"));',
                'place.style.height = "18rem"; // A widget fills its element.',
                'mount(place, { config: {}, locale: "en" });',
            ]
        )


def use(
    version: VersionEntry,
    style: PublishedFile | None,
    public_url: str,
    *,
    is_static: bool,
    is_latest: bool,
) -> Use:
    return Use(
        version.bundle_url,
        version.sha256_hash,
        integrity(version.sha256_hash),
        None if style is None else style_address(version.bundle_url),
        None if style is None else integrity(style.sha256_hash),
        public_url + detail_path(version.scope, version.name),
        *_with_client(version, public_url, is_static=is_static, is_latest=is_latest),
    )


def _with_client(
    version: VersionEntry, public_url: str, *, is_static: bool, is_latest: bool
) -> tuple[str, str] | tuple[None, None]:
    """Pages that run it in the sandbox, and without."""
    sdk = None if version.yanked else admitted_sdk(version.sdk_version)
    if sdk is None:
        return None, None
    key, client = f"{version.scope}/{version.name}", f"{public_url}/client/v1"
    imports = [f'  import {{ Catalog }} from "{client}/client.js";']
    catalog, frame = f'new Catalog("{public_url}")', []
    if is_static:
        imports.append(f'  import {{ catalogFetch }} from "{client}/static.js";')
        catalog = f'new Catalog("{public_url}", {{ fetch: catalogFetch("{public_url}") }})'
        frame = [f'    frame: "{public_url}/frame.html",']
    options = f'sdk: "{sdk}"' + ("" if is_latest else f', range: "{version.version}"')
    made = f"  const catalog = {catalog};"
    mount = [
        *imports,
        f'  import {{ mount }} from "{client}/sandbox.js";',
        "",
        made,
        '  await mount(document.querySelector("#widget"), {',
        f'    catalog, id: "{key}", {options},',
        *frame,
        "    grants: [], // The permissions that your user has granted.",
        "    host: {}, // What your page answers: data, states, call and more.",
        "  });",
    ]
    load = [
        *imports,
        "",
        made,
        f'  const widget = await catalog.load("{key}", {{ {options} }});',
        "  if (widget.styleSheet) document.adoptedStyleSheets.push(widget.styleSheet);",
        '  const place = document.querySelector("#widget");',
        '  widget.module.mount(place, { config: {}, locale: "en" });',
    ]
    width, height = (cells * _CELL_REM for cells in usual_size(version))
    start = [
        # A widget fills its element, so this needs a size of its own.
        f'<div id="widget" style="max-width: {width}rem; height: {height}rem"></div>',
        '<script type="module">',
    ]
    in_sandbox, alone = ("\n".join([*start, *it, "</script>"]) for it in (mount, load))
    return in_sandbox, alone


@lru_cache(1_000)
def admitted_sdk(range_text: str) -> str | None:
    """An SDK that a range admits, for an example: the highest of the versions named in it, or one
    after. None if there is none of these."""
    found = []
    for text in _NUMBERS.findall(range_text[:_MAX_RANGE]) or ["1.0.0"]:
        major, minor, patch = (int(it) for it in [*text.split("."), "0", "0"][:3])
        named = (major, minor, patch)
        for numbers in (named, (major, minor, patch + 1), (major, minor + 1, 0), (major + 1, 0, 0)):
            sdk = SemVer.parse("{}.{}.{}".format(*numbers))
            if is_compatible(range_text, sdk):
                found.append((numbers == named, numbers))
                break
    return "{}.{}.{}".format(*max(found)[1]) if found else None


def integrity(sha256_hash: str) -> str:
    """A hash in the format of Subresource Integrity."""
    return "sha256-" + base64.b64encode(bytes.fromhex(sha256_hash)).decode()
