"""Cards: the list of widgets on the front page, in search results, and on the page of a scope.

Written here and not in a template: twenty cards have some 300 values, and in a template they take
three times as long as all the rest of a search page. Every text goes through `escape_output`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple, Protocol

from jinja2 import Environment, pass_environment
from markupsafe import Markup

from widget_contract.manifest_details import Translation
from widget_contract.version_files import file_path
from widget_contract.wire import VersionEntry

from ..catalog.model.card_picture import Card, CardPicture, Thumbnail
from ..core.http.page_templates import PageEnvironment, escape_output, short
from ..core.languages.language import ENGLISH, Language
from .icons import Icons, tint_of

_END = "</dd></div> "
# In cells, as in the preview.
_USUAL = (4, 3)
# Ratios: a wider picture takes the width of its box, a taller one never does.
_WIDE, _TALL = 1.56, 1.2
# A lazy picture is loaded only after the layout, which takes longer.
_LAZY = ' loading="lazy"'
_ON_FIRST_SCREEN = 3


class HasTexts(Protocol):
    @property
    def display_name(self) -> str: ...
    @property
    def description(self) -> str | None: ...


class _Texts(NamedTuple):
    """The parts of a card that are the same on all cards in a language."""

    installs: str
    updated: str
    version: str
    sdk: str
    none_yet: str
    is_compatible: str
    official: Markup


@cache
def _texts(language: Language) -> _Texts:
    _ = language.gettext
    official = escape_output(_("Official"))
    mark = (
        f'<svg class="official" viewBox="-1 -1 18 18" role="img" aria-label="{official}">'
        f'<title>{official}</title><circle cx="8" cy="8" r="8"/>'
        '<path d="m4.7 8.3 2.2 2.3 4.4-4.9"/></svg>'
    )
    return _Texts(
        _start(_("Installs")),
        _start(_("Updated")),
        _start(_("Version")),
        _start("SDK"),
        escape_output(_("none")),
        escape_output(_("Version %(version)s is compatible with this SDK.")),
        Markup(mark),  # noqa: S704  Escaped above.
    )


def _start(label: str) -> str:
    return f"<div><dt>{escape_output(label)}</dt> <dd>"


@pass_environment
def official_mark(environment: Environment) -> Markup:
    return _texts(_language_of(environment)).official


def _language_of(environment: Environment) -> Language:
    return environment.language if isinstance(environment, PageEnvironment) else ENGLISH


class Cards:
    """Cards, and the large picture of a version."""

    def __init__(self, root: str, icons: Icons, cdn_url: str, *, has_pictures: bool = True) -> None:
        """`has_pictures`: this site has the files of versions."""
        self._stored = f"{cdn_url}/"
        self._start = f"{escape_output(root)}/widgets/"
        self._cdn = f"{root}/cdn"
        self._face = icons.face
        self._has_pictures = has_pictures

    @pass_environment
    def list_in_language(
        self,
        environment: Environment,
        widgets: Sequence[Card],
        why: Sequence[Markup] = (),
        *,
        is_first: bool = False,
    ) -> Markup:
        """For templates: in the language of the template."""
        return self.list(widgets, why, _language_of(environment), is_first=is_first)

    def list(
        self,
        widgets: Sequence[Card],
        why: Sequence[Markup] = (),
        language: Language = ENGLISH,
        *,
        is_first: bool = False,
    ) -> Markup:
        """`why` has a line for each widget, or nothing. The rest of a card is written once.
        `is_first`: its first pictures are visible at once.
        """
        key, parts = f"{id(self)} {language.tag}", ['<ol class="widgets">\n']
        for widget, reason in zip(widgets, why or [Markup()] * len(widgets), strict=True):
            written = widget.__dict__.get(key)
            if written is None:
                written = widget.__dict__[key] = self._card(widget, language, _texts(language))
            parts += (written[0], reason, written[1])
        if is_first:
            shown = slice(1, 1 + 3 * _ON_FIRST_SCREEN, 3)
            parts[shown] = [it.replace(_LAZY, "") for it in parts[shown]]
        return Markup("".join([*parts, "  </ol>\n"]))  # noqa: S704  Escaped below.

    def thumbnail(self, widget: Card) -> Markup:
        """Its picture alone, small."""
        shown = self._picture(widget, widget.latest_version, widget.picture)
        tint = tint_of(widget.display_name)
        return Markup(f'<span class="shot t{tint}">{shown}</span>')  # noqa: S704  Escaped.

    def still(self, version: VersionEntry, picture: CardPicture | None) -> Markup:
        """A version as a picture, before its preview runs."""
        shown = self._picture(version, version, picture, is_first=True)
        tint = tint_of(version.display_name)
        return Markup(f'<div class="shot still t{tint}">{shown}</div>')  # noqa: S704  Escaped.

    def _card(self, widget: Card, language: Language, texts: _Texts) -> tuple[str, str]:
        """The parts before and after the reason why it matches."""
        if (pictured := widget.picture) is not None and pictured.texts:
            name, about = in_language(language, widget, pictured.texts)
        else:
            name, about = widget.display_name, widget.description
        latest = widget.latest_version
        version, sdk = (latest.version, latest.sdk_version) if latest else ("", "")
        key, name, about, version, shown, sdk = _escape_all(
            f"{widget.scope}/{widget.name}",
            short(name, 100),
            short(about, 200) if about else "",
            version,
            short(version, 30),
            short(sdk, 30),
        )
        # A no-break space: the mark is never alone in a line.
        official = f"\N{NO-BREAK SPACE}{texts.official}" if widget.is_official else ""
        fits = live = ""
        if about:
            about = f'      <p dir="auto">{about}</p>\n'
        facts = texts.installs + language.number(widget.download_count or 0) + _END
        if latest:
            # Only what is stored here runs on our pages: they load nothing from other hosts.
            if latest.bundle_url.startswith(self._stored):
                live = f' data-live="{key}/{version}"'
            facts += texts.updated + language.day(latest.published_at) + _END
            facts += texts.version + shown + _END
            facts += texts.sdk + sdk + _END
            compatible = widget.latest_compatible_version
            if compatible and compatible.version != latest.version:
                text = escape_output(short(compatible.version, 30))
                sentence = texts.is_compatible % {"version": text}
                fits = f'      <p class="fits">{sentence}</p>\n'
        else:
            facts += texts.version + texts.none_yet + _END
        start = (
            f'    <li{live}>\n      <div class="shot t{tint_of(widget.display_name)}">'
            f"{self._picture(widget, latest, widget.picture)}</div>\n"
            f'      <a href="{self._start}{key}">\n'
            f'        <span class="name"><bdi>{name}</bdi>{official}</span>\n'
            f'        <span class="key">{key}</span>\n      </a>\n{about}{fits}'
        )
        return start, f'      <dl class="facts">{facts}</dl>\n    </li>\n'

    def _picture(
        self,
        shown: Card | VersionEntry,
        version: VersionEntry | None,
        picture: CardPicture | None,
        *,
        is_first: bool = False,
    ) -> str:
        """The thumbnail, or the icon on a board of the widget's proportions. Decorative: the name
        is next to it. `is_first`: visible at once."""
        if version is not None and picture is not None and picture.light and self._has_pictures:
            place = self._cdn + file_path(version.scope, version.name, version.version, "")
            return _thumbnail(place, picture.light, picture.dark, is_first=is_first)
        return self._face(shown.icon, shown.display_name, *usual_size(version))


def _escape_all(*texts: str) -> Sequence[str]:
    """Nearly always there is nothing to escape, which is found faster in all of them at once."""
    joined = "\n".join(texts)
    return texts if escape_output(joined) is joined else [escape_output(it) for it in texts]


def in_language(
    language: Language, shown: HasTexts, texts: Mapping[str, Translation] | None
) -> tuple[str, str | None]:
    """The name and the description in this language, as far as there are such."""
    found = (texts or {}).get(language.tag)
    if found is None:
        return shown.display_name, shown.description
    return found.display_name or shown.display_name, found.description or shown.description


def usual_size(version: VersionEntry | None) -> tuple[int, int]:
    """Columns and rows: the usual size, within the limits of the version."""
    width, height = _USUAL
    if version is None:
        return width, height
    least, most = version.min_size, version.max_size
    return min(most.w, max(least.w, width)), min(most.h, max(least.h, height))


def _thumbnail(place: str, light: Thumbnail, dark: Thumbnail | None, *, is_first: bool) -> str:
    """As `<picture>`; `place` is the path of the version's files."""
    when = ' fetchpriority="high"' if is_first else _LAZY
    # How it fits into its box is known before it is loaded.
    ratio = light.width / max(light.height, 1)
    shape = ' class="wide"' if ratio > _WIDE else ' class="tall"' if ratio < _TALL else ""
    source = ""
    if dark is not None:
        source = (
            f'<source media="(prefers-color-scheme: dark)" srcset="{escape_output(place)}'
            f'{dark.path}" width="{dark.width}" height="{dark.height}">'
        )
    return (
        f'<picture>{source}<img src="{escape_output(place)}{light.path}"{shape} alt="" '
        f'width="{light.width}" height="{light.height}"{when} decoding="async"></picture>'
    )
