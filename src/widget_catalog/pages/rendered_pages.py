"""RenderedPages: public pages, kept while what they show is the same."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from ..catalog.replica.cache import ByteBoundedCache
from ..core.http.content import AnyContent, Packer
from ..core.http.rendering import PageRenderer
from ..core.languages.language import ENGLISH, Language

_MAX_BYTES = 24 << 20
# Memory of an object besides its bytes; compressed forms are counted separately.
_OVERHEAD_BYTES = 1_000

# Values that change whenever the page changes: tags of what it shows, days, numbers.
Shows = tuple[object, ...]


class Prepared(NamedTuple):
    values: Mapping[str, Any]
    is_final: bool = True
    """Whether the page may be kept: otherwise parts of it are not ready yet."""


class RenderedPages:
    def __init__(
        self, renderer: PageRenderer, packer: Packer, languages: Sequence[Language] = ()
    ) -> None:
        """`languages` are offered on every page that is translated."""
        self._renderer = renderer
        self._languages = languages
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
        language: Language | None = None,
        *,
        is_kept: bool = True,
    ) -> AnyContent:
        """The cached page for this key and these values, or a new one; `is_kept`: cache it.
        A page without a language is in English, and not translated.
        """
        kept = self._find(key, shows, language)
        if kept is not None:
            return kept
        content = self.render(template, language, **values())
        if is_kept:
            key = _key_in(language, key)
            size = content.size * 3 // 2 + 2 * len(key) + _OVERHEAD_BYTES
            self._pages.offer(key, ((*shows, self._renderer.look), content), size)
        return content

    async def prepare(
        self,
        key: str,
        shows: Shows,
        template: str,
        read: Callable[[], Awaitable[Prepared | None]],
        language: Language | None = None,
    ) -> AnyContent | None:
        """A page whose values are waited for; None if there is no such page."""
        kept = self._find(key, shows, language)
        if kept is not None:
            return kept
        found = await read()
        if found is None:
            return None
        values, is_final = found
        return self.get(key, shows, template, lambda: values, language, is_kept=is_final)

    def _find(self, key: str, shows: Shows, language: Language | None = None) -> AnyContent | None:
        kept = self._pages.items.get(_key_in(language, key))
        wanted = (*shows, self._renderer.look)
        return kept[1] if kept is not None and kept[0] == wanted else None

    def render(self, template: str, language: Language | None = None, **values: Any) -> AnyContent:
        languages = self._languages if language is not None else ()
        page = self._renderer.render_public(template, language or ENGLISH, languages, **values)
        return self._packer.content([page])

    def fragment(self, template: str, language: Language, **values: Any) -> Markup:
        """A part of a page."""
        html = self._renderer.render(template, language=language, **values)
        return Markup(html.decode())  # noqa: S704  Templates escape.


def _key_in(language: Language | None, key: str) -> str:
    return key if language is None else f"{language.tag} {key}"


def page_numbers(page: int, pages: int) -> list[int | None]:
    """The linked pages: the first, the last, and those around this one; None is a gap."""
    shown = sorted({1, pages, *range(max(page - 2, 1), min(page + 2, pages) + 1)})
    numbers: list[int | None] = []
    for number in shown if pages > 1 else ():
        if numbers and number - (numbers[-1] or 0) > 1:
            numbers.append(None)
        numbers.append(number)
    return numbers
