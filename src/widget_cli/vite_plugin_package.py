"""The npm package of the Vite plugin, packed from the files in this package.

New widgets get it as a file in their folder, unless WIDGET_NPM_PACKAGES says where else it is:
`registry` for the npm registry, or the URL of a folder with the packages, such as a catalog's.
"""

import gzip
import io
import json
import os
import tarfile
from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple

from widget_contract.manifest_schema import printed
from widget_contract.preview import preview_files

from .preview_page import page_files

PLUGIN = "vite-plugin-widget-catalog"
SOURCE_VARIABLE = "WIDGET_NPM_PACKAGES"
VENDORED = "vendor/"
_NPM_TIME = 499_162_500  # Of all files in packages that npm makes.
_ALWAYS = ("package.json", "README.md", "LICENSE")


class Dependency(NamedTuple):
    """How a package.json names the plugin, and the files that this needs."""

    specifier: str
    files: dict[str, bytes]


def plugin_dependency(source: str | None = None) -> Dependency:
    source = os.environ.get(SOURCE_VARIABLE, "") if source is None else source
    version = _package()["version"]
    if source == "registry":
        return Dependency(f"^{version}", {})
    name = f"{PLUGIN}-{version}.tgz"
    if source:
        return Dependency(f"{source.rstrip('/')}/{name}", {})
    return Dependency(f"file:{VENDORED}{name}", {f"{VENDORED}{name}": packed(plugin_files())})


def plugin_files() -> dict[str, bytes]:
    """The files of the plugin, with the preview, which is the same as that of `widget dev`."""
    source = resources.files(__package__)
    own = source / "vite_plugin"
    names = [it for it in (*_ALWAYS, *_package()["files"]) if (own / it).is_file()]
    files = {it: (own / it).read_bytes() for it in names}
    files["widget.d.ts"] = (source / "template" / "contract" / "widget.d.ts").read_bytes()
    files["widget.schema.json"] = printed().encode()
    headers = {}
    for name, page in page_files().items():
        headers[name] = {
            "content-type": page.content_type,
            "content-security-policy": page.policy,
        }
        files[f"page/{name}"] = page.content
    for name, file in preview_files().items():
        headers[f"preview/{name}"] = dict(file.headers)
        files[f"page/preview/{name}"] = file.content
    files["page/headers.json"] = (json.dumps(headers, indent=2) + "\n").encode()
    return files


def packed(files: Mapping[str, bytes]) -> bytes:
    """A package as `npm pack` writes it; the same bytes for the same files."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as opened:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mtime, entry.mode = len(content), _NPM_TIME, 0o644
            opened.addfile(entry, io.BytesIO(content))
    return gzip.compress(archive.getvalue(), mtime=0)


def _package() -> dict[str, Any]:
    text = (resources.files(__package__) / "vite_plugin" / "package.json").read_text("utf-8")
    package: dict[str, Any] = json.loads(text)
    return package
