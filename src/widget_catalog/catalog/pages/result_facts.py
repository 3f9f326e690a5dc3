"""Facts about search results: why each matches, and the filters that narrow them down."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from markupsafe import Markup

from ...core.http.page_templates import escape_output
from ...core.languages.language import N_, Language
from ..search.hits import Matches
from ..search.ranking import Field
from .search_form import SearchForm

_KEYWORDS = 12
_KEYWORDS_TITLE = N_("Keywords")
_KIND = N_("Kind")
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


class Facet(NamedTuple):
    title: str
    choices: list[Choice]


@cache
def why_it_matches(language: Language, fields: int) -> str:
    """Where its words are, as a sentence. `fields` is a set of `Field`s."""
    _ = language.gettext
    named = [_(text) for some, text in _NAMES.items() if fields & some]
    where = ", ".join(named) or _("part of a word")
    return _("Matches: %(where)s") % {"where": where}


def show_facets(facets: Sequence[Facet], all_keywords: str, language: Language) -> Markup:
    """The filters as links. Written here for the same reason as cards."""
    if not facets:
        return Markup("")
    _ = language.gettext
    label, remove, every_keyword = (
        _("Filter the results"),
        _("Remove this filter"),
        _("All keywords"),
    )
    parts = [f'<nav class="facets" aria-label="{label}">\n']
    applied = f' aria-current="true" title="{remove}"'
    for title, choices in facets:
        parts.append(f"  <h2>{_(title)}</h2>\n  <ul>\n")
        if title == _KIND:
            choices = [it._replace(text=_(it.text)) for it in choices]
        parts += [
            f'    <li><a rel="nofollow" href="{escape_output(it.address)}"'
            f"{applied if it.is_applied else ''}><bdi>{escape_output(it.text)}</bdi>"
            f" <span>{language.number(it.number)}</span></a></li>\n"
            for it in choices
        ]
        if title == _KEYWORDS_TITLE:
            every = escape_output(all_keywords)
            parts.append(f'    <li class="every"><a href="{every}">{every_keyword}</a></li>\n')
        parts.append("  </ul>\n")
    return Markup("".join([*parts, "</nav>\n"]))  # noqa: S704  Escaped above.


def list_facets(
    asked: SearchForm, total: int, found: Matches, address: Callable[[str], str]
) -> list[Facet]:
    """Keywords, scopes and official, each with counts; of one that is applied, all results."""

    def choices(
        counts: Sequence[tuple[str, int]], name: str, applied: str, without: SearchForm
    ) -> list[Choice]:
        """Keywords and scopes need no quoting in an address."""
        away = address(without.query())
        base = f"{away}{'&' if '?' in away else '?'}{name}="
        some = list(counts)
        if applied and applied not in (text for text, _ in some):
            some[-1:] = [(applied, total)]
        return [
            Choice(text, number, away, is_applied=True)
            if text == applied
            else Choice(text, number, base + text, is_applied=False)
            for text, number in some
        ]

    official = [("true", found.official)] if found.official or asked.official else []
    kinds = choices(
        official, "official", "true" if asked.official else "", asked._replace(official=False)
    )
    facets = [
        Facet(
            _KEYWORDS_TITLE,
            choices(
                found.keywords[:_KEYWORDS], "keyword", asked.keyword, asked._replace(keyword="")
            ),
        ),
        Facet(
            N_("Scopes"),
            choices(found.scopes[:_SCOPES], "scope", asked.scope, asked._replace(scope="")),
        ),
        Facet(_KIND, [it._replace(text=N_("Official")) for it in kinds]),
    ]
    return [it for it in facets if it.choices]
