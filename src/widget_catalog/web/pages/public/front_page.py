"""The front page: what this is, how large it is, what people install most."""

import msgspec
from jinja2 import Environment

from widget_contract.wire import Size, VersionEntry

from ....catalog.catalog import Catalog
from ....catalog.content import Content
from ....catalog.large_content import AnyContent
from ....catalog.views import Views
from ....replica.search.index import Query

_POPULAR = 6
_EVERYTHING = Query()
_GRID_CELLS = 8


class _Footprint(msgspec.Struct):
    """A widget's smallest and largest size, to be drawn on a square grid of `cells` a side."""

    cells: int
    least: Size
    most: Size


class FrontPage:
    """Rendered anew only when the numbers or the widgets shown have changed."""

    def __init__(self, catalog: Catalog, templates: Environment) -> None:
        self._catalog = catalog
        self._views = Views(catalog)
        self._templates = templates
        self._shows = ("", "")
        self._content: AnyContent = Content(b"")

    def content(self) -> AnyContent:
        stats = self._views.stats()
        popular = self._views.search(_EVERYTHING, None, 1, _POPULAR)
        shows = (stats.tag, popular.tag)
        if shows != self._shows:
            page = self._templates.get_template("front_page.html").render(
                stats=stats.read(),
                popular=[(it, _footprint(it.latest_version)) for it in popular.read().widgets],
            )
            self._content = self._catalog.packer.content([page.encode()])
            self._shows = shows
        return self._content


def _footprint(latest: VersionEntry | None) -> _Footprint | None:
    if latest is None:
        return None
    least, most = latest.min_size, latest.max_size
    # A giant is drawn as the whole grid; its figures stand beside it.
    cells = min(max(least.w, least.h, most.w, most.h, 4), _GRID_CELLS)
    return _Footprint(cells, _cut(least, cells), _cut(most, cells))


def _cut(size: Size, cells: int) -> Size:
    return Size(min(size.w, cells), min(size.h, cells))
