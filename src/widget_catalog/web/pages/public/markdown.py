"""Markdown of authors as safe HTML, cut off where it would make a page too large."""

import re

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "a"),
    *("h3", "h4", "h5", "h6", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_CUT = "\n\n…"

# Headings of an author come below those of the page, which has used two levels.
_FIRST_LEVEL, _LAST_LEVEL = 3, 6
# Characters that turn the direction of a text round beyond its own end.
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def render_markdown(text: str, most_bytes: int) -> Markup:
    """At most about so many bytes of HTML. Images are left out: no page loads anything from
    elsewhere."""
    text = _BIDI.sub("", text)
    html = _rendered(text)
    while len(html.encode()) > most_bytes:
        kept = int(len(text) * 0.9 * most_bytes / len(html.encode()))
        text = text[:kept].rpartition("\n\n")[0] or text[:kept]
        html = _rendered(text + _CUT)
    # What can be scrolled is reached by keys.
    html = html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')
    return Markup(html)  # noqa: S704  Sanitised above.


def _rendered(text: str) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.disable("image")
    try:
        tokens = markdown.parse(text)
    except RecursionError:
        return str(escape(text))
    _lower_headings(tokens)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow ugc noopener",
    )


def _lower_headings(tokens: list[Token]) -> None:
    """Below those of the page, and with no level left out."""
    headings = [it for it in tokens if it.type in ("heading_open", "heading_close")]
    last = _FIRST_LEVEL - 1
    highest = min((int(it.tag[1]) for it in headings), default=1)
    for it in headings:
        if it.type == "heading_open":
            wanted = int(it.tag[1]) - highest + _FIRST_LEVEL
            last = min(wanted, last + 1, _LAST_LEVEL)
        it.tag = f"h{last}"
