"""URLs of a catalog: its widgets, and the files of their versions."""

from typing import Literal, NamedTuple
from urllib.parse import urljoin

FileKind = Literal["js", "css"]

WIDGETS = "/api/v1/widgets/"
SEARCH = f"{WIDGETS}search"
CLI_VERSION = "/api/widgets/cli-version"
SCOPES = "/api/widgets/scopes"
PUBLISH = "/api/widgets/publish"


class PublishedFile(NamedTuple):
    """A file of a version: its bundle, or its style sheet."""

    scope: str
    name: str
    version: str
    kind: FileKind


def detail_path(scope: str, name: str) -> str:
    return f"{WIDGETS}{scope}/{name}"


def file_path(scope: str, name: str, version: str, kind: FileKind) -> str:
    """The path of a published file below the CDN's base URL."""
    return f"/@{scope}/{name}/{version}/index.{kind}"


def parse_file_path(path: str) -> PublishedFile | None:
    """The file for a path below the CDN's base URL, if the path is valid."""
    match path.split("/"):
        case ["", scope, name, version, "index.js"] if scope.startswith("@"):
            return PublishedFile(scope[1:], name, version, "js")
        case ["", scope, name, version, "index.css"] if scope.startswith("@"):
            return PublishedFile(scope[1:], name, version, "css")
    return None


def style_address(bundle_address: str) -> str:
    """The URL of a version's style sheet, which is next to its bundle."""
    return urljoin(bundle_address, "index.css")
