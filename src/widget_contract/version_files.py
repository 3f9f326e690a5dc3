"""The files of a version: their paths, kinds and limits; and the URLs of a catalog.

Besides the bundle and the style sheet, a version may have a README and pictures. The catalog adds
a thumbnail for each picture.
"""

import re
from collections import Counter
from collections.abc import Container, Sequence
from typing import Literal, NamedTuple
from urllib.parse import urljoin

from .described import SHA256

FileKind = Literal["js", "css", "md", "png", "jpg", "webp"]

BUNDLE, STYLE, README = "index.js", "index.css", "README.md"
MAX_README_BYTES = 64 << 10
MAX_PICTURES = 6
MAX_PICTURE_BYTES = 1 << 20
MAX_PICTURE_SIDE = 4096
THUMBNAIL_WIDTH = 640

CONTENT_TYPES: dict[FileKind, str] = {
    "js": "text/javascript",
    "css": "text/css",
    "md": "text/markdown",
    "png": "image/png",
    "jpg": "image/jpeg",
    "webp": "image/webp",
}
FILE_KINDS: tuple[FileKind, ...] = tuple(CONTENT_TYPES)
PICTURE_KINDS: frozenset[FileKind] = frozenset(("png", "jpg", "webp"))
_FIXED: dict[str, FileKind] = {BUNDLE: "js", STYLE: "css", README: "md"}

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
_PICTURE = re.compile(rf"screenshots/{_NAME}\.(?:png|jpg|webp)", re.ASCII)
_THUMBNAIL = re.compile(rf"screenshots/{_NAME}\.thumb\.webp", re.ASCII)
PICTURE_FILE = rf"^{_NAME}\.(png|jpg|webp|thumb\.webp)$"
"""The file name of a picture or of a thumbnail, as in a JSON Schema."""
_SHA256 = re.compile(SHA256)
_PATH_RULE = (
    "must be README.md, or a picture such as screenshots/light.png: a name of at most 64 letters, "
    "digits, hyphens and underscores, and png, jpg or webp."
)
_MAX_FILES = 1 + MAX_PICTURES


class AnnouncedFile(NamedTuple):
    """A file that will be uploaded."""

    path: str
    size_bytes: int
    sha256_hash: str


def kind_of(path: str) -> FileKind:
    """The kind of a file with a valid path."""
    return _FIXED.get(path) or path.rpartition(".")[2]  # type: ignore[return-value]


def is_path(path: str) -> bool:
    """Whether a version can have a file with this path."""
    return path in _FIXED or is_attached(path)


def is_attached(path: str) -> bool:
    """Whether it is a README, a picture or a thumbnail."""
    return path == README or is_picture(path) or is_thumbnail(path)


def is_picture(path: str) -> bool:
    """Whether it is a picture of the author."""
    return _PICTURE.fullmatch(path) is not None


def is_thumbnail(path: str) -> bool:
    return _THUMBNAIL.fullmatch(path) is not None


def lacks_thumbnail(path: str, named: Container[str]) -> bool:
    """Whether it is a picture whose thumbnail is not among these files."""
    return is_picture(path) and thumbnail_of(path) not in named


def thumbnail_of(path: str) -> str:
    """The path of the thumbnail of a picture."""
    return f"{path.rpartition('.')[0]}.thumb.webp"


def max_bytes_of(kind: FileKind, max_bundle_bytes: int) -> int:
    """The maximum size of a file; `max_bundle_bytes` is a setting of the catalog."""
    if kind in PICTURE_KINDS:
        return MAX_PICTURE_BYTES
    return MAX_README_BYTES if kind == "md" else max_bundle_bytes


def parse_announced(stated: object) -> tuple[tuple[AnnouncedFile, ...], list[str]]:
    """The value `files` of a publish request, and all errors."""
    if stated is None:
        return (), []
    if not isinstance(stated, (list, tuple)):
        return (), ["files: must be a list of objects with path, size and sha256Hash."]
    if len(stated) > _MAX_FILES:
        sentence = f"files: has {len(stated):,} files; at most a README.md and {MAX_PICTURES} "
        return (), [sentence + "pictures are allowed."]
    errors: list[str] = []
    files = [_announced(f"files[{i}]", it, errors) for i, it in enumerate(stated)]
    found = tuple(it for it in files if it is not None)
    errors += path_conflicts([it.path for it in found if it.path])
    return found, errors


def path_conflicts(paths: Sequence[str]) -> list[str]:
    """Errors if a version cannot have files with these valid paths, in this order, at once.

    Pictures that differ only in case or type would share an address on some systems, or a
    thumbnail.
    """
    errors: list[str] = []
    seen: dict[str, str] = {}
    counts = Counter(paths)  # Counting each path would take minutes for tens of thousands.
    for path in paths:
        key = (path.rpartition(".")[0] if is_picture(path) else path).lower()
        first = seen.setdefault(key, path)
        if first == path and counts.pop(path, 0) > 1:
            errors.append(f"files: {path} is given twice.")
        elif first != path:
            errors.append(f"files: {first} and {path} have the same name. Rename one.")
    pictures = sum(map(is_picture, paths))
    if pictures > MAX_PICTURES:
        errors.append(f"files: has {pictures:,} pictures; at most {MAX_PICTURES} are allowed.")
    return errors


def _announced(at: str, stated: object, errors: list[str]) -> AnnouncedFile | None:
    if not isinstance(stated, dict):
        errors.append(f"{at}: must be an object with path, size and sha256Hash.")
        return None
    path, size, sha256_hash = (stated.get(it) for it in ("path", "size", "sha256Hash"))
    if not isinstance(path, str) or not (path == README or is_picture(path)):
        shown = f"{path[:80]!a} is not allowed; it " if isinstance(path, str) else ""
        errors.append(f"{at}.path: {shown}{_PATH_RULE}")
        path = ""
    if type(size) is not int or size < 0:
        errors.append(f"{at}.size: must be the size of the file in bytes.")
        size = 0
    elif size == 0:
        errors.append(f"{at}.size: the file is empty.")
    elif path and size > (most := max_bytes_of(kind_of(path), 0)):
        errors.append(f"{at}.size: {path} has {size:,} bytes; at most {most:,} are allowed.")
    if not isinstance(sha256_hash, str) or not _SHA256.fullmatch(sha256_hash):
        errors.append(f"{at}.sha256Hash: must be the SHA-256 of the file, 64 hexadecimal digits.")
        sha256_hash = ""
    return AnnouncedFile(path, size, sha256_hash)


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
