"""URLs of a catalog: its widgets, and the files of their versions."""

from typing import NamedTuple
from urllib.parse import urljoin

from .version_files import BUNDLE, STYLE, FileKind, is_path, kind_of

WIDGETS = "/api/v1/widgets/"
SEARCH = f"{WIDGETS}search"
CLI_VERSION = "/api/widgets/cli-version"
SCOPES = "/api/widgets/scopes"
PUBLISH = "/api/widgets/publish"


class PublishedFile(NamedTuple):
    """A file of a version, such as its bundle; `path` is relative to the version."""

    scope: str
    name: str
    version: str
    path: str

    @property
    def kind(self) -> FileKind:
        return kind_of(self.path)


def detail_path(scope: str, name: str) -> str:
    return f"{WIDGETS}{scope}/{name}"


def file_path(scope: str, name: str, version: str, path: str = BUNDLE) -> str:
    """The path of a published file below the CDN's base URL."""
    return f"/@{scope}/{name}/{version}/{path}"


def parse_file_path(path: str) -> PublishedFile | None:
    """The file for a path below the CDN's base URL, if the path is valid."""
    match path.split("/", 4):
        case ["", scope, name, version, file] if scope.startswith("@") and is_path(file):
            return PublishedFile(scope[1:], name, version, file)
    return None


def style_address(bundle_address: str) -> str:
    """The URL of a version's style sheet, which is next to its bundle."""
    return urljoin(bundle_address, STYLE)
