"""Authors' Markdown as sanitized HTML, with a size limit."""

import hashlib
import re
from typing import NamedTuple

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup, escape

from ..catalog.replica.cache import ByteBoundedCache
from ..core.errors import Busy
from ..core.jobs.bounded_work import BoundedWork

_TAGS = {
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "a"),
    *("h3", "h4", "h5", "h6", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_CUT = "\n\n…"
_MAX_BRACKETS = 500  # In one paragraph.
_MAX_PLAIN_BYTES = 1_000
_MAX_KEPT_BYTES = 8 << 20
_OVERHEAD_BYTES = 500

# Authors' headings are below those of the page, which uses two levels.
_FIRST_LEVEL, _LAST_LEVEL = 3, 6
# Nothing that means something in Markdown or HTML.
_WORDS = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;:()'!?/+-](?!\Z)|[.!?)]\Z)*\Z")
# Characters that change the text direction beyond their own text.
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


class Shown(NamedTuple):
    """`is_final`: otherwise it is plain text for now, because others come first."""

    html: Markup | None
    is_final: bool = True

    @property
    def is_cut(self) -> bool:
        """Whether the end of the text is missing."""
        return self.html is not None and self.html.rstrip().endswith(f"<p>{_CUT.strip()}</p>")


class MarkdownRenderer:
    """Renders in a child process, because some texts take very long, and caches the results: pages
    are rendered again with every count.
    """

    def __init__(self) -> None:
        self._rendering = BoundedWork(render_markdown)
        self._known: ByteBoundedCache[bytes, Markup] = ByteBoundedCache(_MAX_KEPT_BYTES)

    async def render(self, text: str | None, most_bytes: int, scope: str) -> Shown:
        if not text:
            return Shown(None)
        if (line := plain_line(text)) is not None:
            return Shown(line)
        key = hashlib.sha256(f"{most_bytes} {text}".encode(errors="replace")).digest()
        known = self._known.items.get(key)
        if known is None:
            try:
                html = await self._rendering.ask((text, most_bytes), scope)
            except Busy:
                return Shown(_as_it_is(text[:most_bytes]), is_final=False)
            known = _as_it_is(text[:most_bytes]) if html is None else Markup(html)  # noqa: S704
            self._known.put(key, known, 4 * len(known) + _OVERHEAD_BYTES)
        return Shown(known)


def plain_line(text: str) -> Markup | None:
    """What `render_markdown` makes of a short line of words, as most release notes are: it takes
    no process. None for all others."""
    is_plain = 4 * len(text) < _MAX_PLAIN_BYTES and _WORDS.match(text)
    return Markup(f"<p>{text}</p>\n") if is_plain else None  # noqa: S704  Nothing to escape.


def _as_it_is(text: str) -> Markup:
    return Markup('<pre tabindex="0">{}</pre>').format(_BIDI.sub("", text))


def render_markdown(asked: tuple[str, int]) -> str:
    """A text as sanitized HTML of about this many bytes at most. Images become links or text:
    pages load nothing from other hosts.
    """
    text, most_bytes = asked
    text = _BIDI.sub("", text)
    # HTML is hardly ever shorter than its Markdown: the rest would be cut off later.
    text = _beginning(text, most_bytes)
    html = _rendered(text)
    while (size := len(html.encode())) > most_bytes:
        text = _beginning(text, int(len(text) * 0.9 * most_bytes / size))
        html = _rendered(text)
    # Scrollable elements must be accessible by keyboard.
    return html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">')


def render_line(text: str) -> str:
    """A short text of one line, with emphasis, code and links, as sanitized HTML."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("strikethrough").disable("image")
    return nh3.clean(
        markdown.renderInline(_BIDI.sub("", text)),
        tags={"strong", "em", "s", "code", "a"},
        attributes={"a": {"href", "title"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener",
    )


def _beginning(text: str, most: int) -> str:
    """This many characters at most, in whole paragraphs if possible."""
    if len(text) <= most:
        return text
    return (text[:most].rpartition("\n\n")[0] or text[:most]) + _CUT


def _rendered(text: str) -> str:
    markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    markdown.core.ruler.before("inline", "brackets", _skip_brackets)
    try:
        tokens = markdown.parse(text)
    except RecursionError:
        return str(escape(text))
    _lower_headings(tokens)
    for token in tokens:
        if token.children:
            token.children = _images_as_links(token.children)
    html = markdown.renderer.render(tokens, markdown.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow ugc noopener",
    )


def _skip_brackets(state: StateCore) -> None:
    """Show a paragraph with too many brackets as plain text: for each that is not closed, the rest
    of the paragraph is searched.
    """
    for token in state.tokens:
        if token.type == "inline" and token.content.count("[") > _MAX_BRACKETS:
            token.type = "text"


def _lower_headings(tokens: list[Token]) -> None:
    """Shift headings below those of the page, without skipping a level."""
    headings = [it for it in tokens if it.type in ("heading_open", "heading_close")]
    last = _FIRST_LEVEL - 1
    highest = min((int(it.tag[1]) for it in headings), default=1)
    for heading in headings:
        if heading.type == "heading_open":
            wanted = int(heading.tag[1]) - highest + _FIRST_LEVEL
            last = min(wanted, last + 1, _LAST_LEVEL)
        heading.tag = f"h{last}"


def _images_as_links(tokens: list[Token]) -> list[Token]:
    """Only the text of an image is kept inside a link, as in badges, and if its URL is relative."""
    changed: list[Token] = []
    links = 0
    for token in tokens:
        links += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type != "image":
            changed.append(token)
            continue
        source = str(token.attrs["src"])
        text = Token("text", "", 0, content=_text_of(token).strip() or source)
        link = [Token("link_open", "a", 1, attrs={"href": source}), text]
        is_link = not links and source.startswith(("https://", "http://"))
        changed += [*link, Token("link_close", "a", -1)] if is_link else [text]
    return changed


def _text_of(token: Token) -> str:
    if token.children:
        return "".join(map(_text_of, token.children))
    return " " if token.type in ("softbreak", "hardbreak") else token.content
