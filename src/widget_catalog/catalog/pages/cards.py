"""Cards: the list of widgets on the front page, in search results, and on the page of a scope.

Written here and not in a template: twenty cards have some 300 values, and in a template they take
three times as long as all the rest of a search page. Every text goes through `escape_output`.
"""

from collections.abc import Sequence

from markupsafe import Markup

from widget_contract.addresses import file_path
from widget_contract.wire import VersionEntry

from ...core.http.rendering import day, escape_output, short
from ..card_picture import Card, CardPicture
from .icons import Icons, tint_of

OFFICIAL = Markup(
    '<svg class="official" viewBox="-1 -1 18 18" role="img" aria-label="Official">'
    '<title>Official</title><circle cx="8" cy="8" r="8"/>'
    '<path d="m4.7 8.3 2.2 2.3 4.4-4.9"/></svg>'
)
# In cells, as in the preview.
_USUAL = (4, 3)
# Ratios: a wider picture takes the width of its box, a taller one never does.
_WIDE, _TALL = 1.56, 1.2


class Cards:
    """Cards, and the large picture of a version."""

    def __init__(self, root: str, icons: Icons, cdn_url: str, *, has_pictures: bool = True) -> None:
        """`has_pictures`: this site has the files of versions."""
        self._stored = f"{cdn_url}/"
        self._start = f"{escape_output(root)}/widgets/"
        self._cdn = f"{root}/cdn"
        self._face = icons.face
        self._has_pictures = has_pictures

    def list(self, widgets: Sequence[Card], why: Sequence[str] = ()) -> Markup:
        """`why` has a sentence for each widget, or nothing."""
        each = zip(widgets, why or [""] * len(widgets), strict=True)
        cards = "".join([self._card(*it) for it in each])
        return Markup(f'<ol class="widgets">\n{cards}  </ol>\n')  # noqa: S704  Escaped below.

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

    def _card(self, widget: Card, why: str) -> str:
        key = f"{escape_output(widget.scope)}/{escape_output(widget.name)}"
        name = escape_output(short(widget.display_name, 100))
        official = f" {OFFICIAL}" if widget.is_official else ""
        latest = widget.latest_version
        about = fits = live = ""
        reason = f'      <p class="why">{escape_output(why)}</p>\n' if why else ""
        if widget.description:
            text = escape_output(short(widget.description, 200))
            about = f'      <p dir="auto">{text}</p>\n'
        facts = _fact("Installs", f"{widget.download_count or 0:,}")
        if latest:
            version = latest.version
            # Only what is stored here runs on our pages: they load nothing from other hosts.
            if latest.bundle_url.startswith(self._stored):
                live = f' data-live="{key}/{escape_output(version)}"'
            facts += _fact("Updated", day(latest.published_at))
            facts += _fact("Version", escape_output(short(version, 30)))
            facts += _fact("SDK", escape_output(short(latest.sdk_version, 30)))
            compatible = widget.latest_compatible_version
            if compatible and compatible.version != version:
                text = escape_output(short(compatible.version, 30))
                fits = f'      <p class="fits">Version {text} is compatible with this SDK.</p>\n'
        else:
            facts += _fact("Version", "none yet")
        return (
            f'    <li{live}>\n      <div class="shot t{tint_of(widget.display_name)}">'
            f"{self._picture(widget, latest, widget.picture)}</div>\n"
            f'      <a href="{self._start}{key}">\n'
            f'        <span class="name"><bdi>{name}</bdi>{official}</span>\n'
            f'        <span class="key">{key}</span>\n      </a>\n'
            f'{about}{fits}{reason}      <dl class="facts">{facts}</dl>\n    </li>\n'
        )

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
        if version is not None and picture is not None and self._has_pictures:
            place = self._cdn + file_path(version.scope, version.name, version.version, "")
            return _thumbnail(place, picture, is_first=is_first)
        return self._face(shown.icon, shown.display_name, *usual_size(version))


def usual_size(version: VersionEntry | None) -> tuple[int, int]:
    """Columns and rows: the usual size, within the limits of the version."""
    width, height = _USUAL
    if version is None:
        return width, height
    least, most = version.min_size, version.max_size
    return min(most.w, max(least.w, width)), min(most.h, max(least.h, height))


def _thumbnail(place: str, picture: CardPicture, *, is_first: bool) -> str:
    """As `<picture>`; `place` is the path of the version's files."""
    light, dark = picture.light, picture.dark
    when = 'fetchpriority="high"' if is_first else 'loading="lazy"'
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
        f'width="{light.width}" height="{light.height}" {when} decoding="async"></picture>'
    )


def _fact(label: str, value: str) -> str:
    return f"<div><dt>{label}</dt> <dd>{value}</dd></div> "
