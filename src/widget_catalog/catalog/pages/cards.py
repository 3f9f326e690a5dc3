"""Cards: the list of widgets on the front page, in search results, and on the page of a scope.

Written here and not in a template: twenty cards have some 300 values, and in a template they take
three times as long as all the rest of a search page. Every text goes through `escape_output`.
"""

from collections.abc import Sequence

from markupsafe import Markup

from widget_contract.wire import WidgetSummary

from ...core.http.rendering import day, escape_output, short
from .icons import Icons

OFFICIAL = Markup(
    '<svg class="official" viewBox="-1 -1 18 18" role="img" aria-label="Official">'
    '<title>Official</title><circle cx="8" cy="8" r="8"/>'
    '<path d="m4.7 8.3 2.2 2.3 4.4-4.9"/></svg>'
)


class Cards:
    def __init__(self, root: str, icons: Icons) -> None:
        self._start = f"{escape_output(root)}/widgets/"
        self._tile = icons.tile

    def list(self, widgets: Sequence[WidgetSummary], why: Sequence[str] = ()) -> Markup:
        """`why` has a sentence for each widget, or nothing."""
        each = zip(widgets, why or [""] * len(widgets), strict=True)
        cards = "".join([self._card(*it) for it in each])
        return Markup(f'<ol class="widgets">\n{cards}  </ol>\n')  # noqa: S704  Escaped below.

    def _card(self, widget: WidgetSummary, why: str) -> str:
        key = f"{escape_output(widget.scope)}/{escape_output(widget.name)}"
        name = escape_output(short(widget.display_name, 100))
        official = f" {OFFICIAL}" if widget.is_official else ""
        count, latest = widget.download_count or 0, widget.latest_version
        about = fits = ""
        reason = f'      <p class="why">{escape_output(why)}</p>\n' if why else ""
        if widget.description:
            text = escape_output(short(widget.description, 200))
            about = f'      <p dir="auto">{text}</p>\n'
        if latest:
            version = latest.version
            facts = (
                f"        <span>{escape_output(short(version, 30))}</span>\n"
                f"        <span>SDK {escape_output(short(latest.sdk_version, 30))}</span>\n"
                f"        <span>{day(latest.published_at)}</span>\n"
            )
            compatible = widget.latest_compatible_version
            if compatible and compatible.version != version:
                text = escape_output(short(compatible.version, 30))
                fits = f'      <p class="fits">Version {text} is compatible with this SDK.</p>\n'
        else:
            facts = "        <span>nothing published yet</span>\n"
        return (
            f'    <li>\n      <a href="{self._start}{key}">\n'
            f"        {self._tile(widget.icon, widget.display_name)}\n"
            f'        <span class="name"><bdi>{name}</bdi>{official}</span>\n'
            f'        <span class="key">{key}</span>\n      </a>\n'
            f'{about}      <p class="facts">\n'
            f"        <span>{count:,} {'install' if count == 1 else 'installs'}</span>\n"
            f"{facts}      </p>\n{fits}{reason}    </li>\n"
        )
