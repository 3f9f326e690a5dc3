"""Facts about search results: why each matches, and the filters that narrow them down."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from markupsafe import Markup

from ..catalog.search.ranking import Field
from ..catalog.search.scoring import Matches
from ..core.http.page_templates import escape_output
from ..core.languages.language import N_, Language
from .search_form import SearchForm

_KEYWORDS = 12
_SCOPES = 6
_NAMES = {
    Field.DISPLAY_NAME | Field.NAME: N_("name"),
    Field.SCOPE: N_("scope"),
    Field.KEYWORD: N_("keywords"),
    Field.DESCRIPTION: N_("description"),
    Field.README: "README",
}


class Choice(NamedTuple):
    """A filter, the number of results with it, and the address of the page that has it; if it is
    applied, of the page that does not.
    """

    text: str
    number: int
    address: str
    is_applied: bool


@cache
def why_it_matches(language: Language, fields: int) -> Markup:
    """Where its words are, as a line of a card. `fields` is a set of `Field`s."""
    _ = language.gettext
    named = [_(text) for some, text in _NAMES.items() if fields & some]
    where = _(", ").join(named) or _("part of a word")
    text = escape_output(_("Matches: %(where)s") % {"where": where})
    return Markup(f'      <p class="why">{text}</p>\n')  # noqa: S704  Escaped above.


@lru_cache(maxsize=64)
def show_options(choices: tuple[tuple[str, str], ...], chosen: str) -> Markup:
    """The options of a choice: each its value, and its text."""
    if chosen and chosen not in [value for value, _ in choices]:
        choices = (*choices, (chosen, chosen))
    options = []
    for value, text in choices:
        named = "" if value == text else f' value="{escape_output(value)}"'
        selected = " selected" if value and value == chosen else ""
        options.append(f"<option{named}{selected}>{escape_output(text)}</option>")
    return Markup("".join(options))  # noqa: S704  Escaped above.


def show_facets(
    asked: SearchForm,
    total: int,
    found: Matches,
    address: Callable[[str], str],
    all_keywords: str,
    language: Language,
) -> Markup:
    """Keywords, scopes and official as links, each with counts; of one that is applied, all
    results. Written here for the same reason as cards.
    """
    _ = language.gettext
    label, official = _("Filter the results"), _("Official")
    remove, every_keyword = _("Remove this filter"), _("All keywords")
    are_official = [("true", found.official)] if found.official or asked.official else []
    is_official = "true" if asked.official else ""
    facets = (
        ("keyword", N_("Keywords"), found.keywords[:_KEYWORDS], asked.keyword),
        ("scope", N_("Scopes"), found.scopes[:_SCOPES], asked.scope),
        ("official", N_("Kind"), are_official, is_official),
    )
    parts = []
    for name, title, counts, applied in facets:
        if applied and applied not in (text for text, _ in counts):
            counts = [*counts[:-1], (applied, total)]
        if not counts:
            continue
        away = address((asked._replace(**{name: ""}) if applied else asked).query())  # type: ignore[arg-type]
        base = escape_output(f"{away}{'&' if '?' in away else '?'}{name}=")
        parts.append(f"  <h2>{language.gettext(title)}</h2>\n  <ul>\n")
        for text, number in counts:
            escaped = escape_output(text)
            link = f'{base}{escaped}"'
            if text == applied:
                link = f'{escape_output(away)}" aria-current="true" title="{remove}"'
            shown = official if name == "official" else escaped
            parts.append(
                f'    <li><a rel="nofollow" href="{link}><bdi>{shown}</bdi>'
                f" <span>{language.number(number)}</span></a></li>\n"
            )
        if name == "keyword":
            every = escape_output(all_keywords)
            parts.append(f'    <li class="every"><a href="{every}">{every_keyword}</a></li>\n')
        parts.append("  </ul>\n")
    if not parts:
        return Markup("")
    start = f'<nav class="facets" aria-label="{label}">\n'
    return Markup("".join([start, *parts, "</nav>\n"]))  # noqa: S704  Escaped above.
