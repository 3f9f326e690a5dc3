"""RenderedPages: a cache of rendered pages, each valid while its data is the same."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from ...core.http.content import AnyContent, Packer
from ...core.http.rendering import PageRenderer
from ..replica.cache import ByteBoundedCache

_MAX_BYTES = 16 << 20
# Memory of an object besides its bytes; compressed forms are counted separately.
_OVERHEAD_BYTES = 1_000

# Values that change whenever the page changes: tags of what it shows, days, numbers.
Shows = tuple[object, ...]


class PageRequest(NamedTuple):
    """The parameters in a path, and the raw query."""

    params: Mapping[str, str]
    query_string: str

    @property
    def query(self) -> dict[str, str]:
        try:
            pairs = parse_qsl(self.query_string, errors="replace", max_num_fields=30)
        except ValueError:
            pairs = []
        return dict(reversed(pairs))

    @property
    def page(self) -> int:
        number = self.query.get("page", "1")
        return int(number) if number.isascii() and number.isdecimal() and len(number) < 7 else 1

    @property
    def key(self) -> str:
        """The widget in the path."""
        return f"{self.params['scope']}/{self.params['name']}"


class RenderedPages:
    def __init__(self, renderer: PageRenderer, packer: Packer) -> None:
        self._renderer = renderer
        self._packer = packer
        self._pages: ByteBoundedCache[str, tuple[Shows, AnyContent]] = ByteBoundedCache(_MAX_BYTES)

    def address(self, path: str) -> str:
        """A path in the form used in links."""
        if self._renderer.is_static:
            path = path.replace("?page=", "/page-")
        return self._renderer.root + path

    def get(
        self,
        key: str,
        shows: Shows,
        template: str,
        values: Callable[[], Mapping[str, Any]],
        *,
        is_kept: bool = True,
    ) -> AnyContent:
        """The cached page for this key and these values, or a new one; `is_kept`: cache it."""
        kept = self.find(key, shows)
        if kept is not None:
            return kept
        content = self.render(template, **values())
        if is_kept:
            size = content.size * 3 // 2 + 2 * len(key) + _OVERHEAD_BYTES
            self._pages.put(key, ((*shows, self._renderer.mirror_url), content), size)
        return content

    def find(self, key: str, shows: Shows) -> AnyContent | None:
        kept = self._pages.items.get(key)
        wanted = (*shows, self._renderer.mirror_url)
        return kept[1] if kept is not None and kept[0] == wanted else None

    def render(self, template: str, **values: Any) -> AnyContent:
        return self._packer.content([self._renderer.render(template, **values)])


def page_numbers(page: int, pages: int) -> list[int | None]:
    """The linked pages: the first, the last, and those around this one; None is a gap."""
    shown = sorted({1, pages, *range(max(page - 2, 1), min(page + 2, pages) + 1)})
    numbers: list[int | None] = []
    for number in shown if pages > 1 else ():
        if numbers and number - (numbers[-1] or 0) > 1:
            numbers.append(None)
        numbers.append(number)
    return numbers
