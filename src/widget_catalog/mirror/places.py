"""Where a catalog to copy is: at the URL of a service or of a static site, or in the folder of a
site.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import msgspec

from widget_catalog_client import Catalog
from widget_catalog_client.transport import http_options
from widget_contract.static_sites import ENTRY, Entry

from ..core.errors import MirrorRefused
from .static_site import FolderTransport, SiteTransport

_TIMEOUT_S = 10.0


@contextlib.contextmanager
def open_upstream(place: str) -> Iterator[Catalog]:
    """The URL of a catalog in a folder is that for which its site was built, wherever the folder is
    now.
    """
    folder = _folder_in(place)
    url = place.rstrip("/") if folder is None else _url_of(folder)
    transport = None if folder is None else FolderTransport(folder, url)
    options = http_options(_TIMEOUT_S)
    with (
        httpx.Client(transport=transport, **options) as files,
        httpx.Client(transport=SiteTransport(files, url), **options) as http,
        Catalog(url, http=http) as catalog,
    ):
        yield catalog


def _folder_in(place: str) -> Path | None:
    if place.startswith("file://"):
        return Path(unquote(urlsplit(place).path))
    path = Path(place).expanduser()
    is_folder = "://" not in place and (place[:1] in "./~" or path.is_dir())
    return path if is_folder else None


def _url_of(folder: Path) -> str:
    try:
        entry = msgspec.json.decode((folder / ENTRY).read_bytes(), type=Entry)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        raise MirrorRefused(
            f"{folder} is not a complete static site: it has no readable {ENTRY}. Pass the folder "
            "that widget-catalog site has written, or a complete copy of it."
        ) from None
    return entry.base_url.rstrip("/")
