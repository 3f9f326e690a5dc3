"""Tokens: the words of texts, as pages search them. The API's `q` has its own rule."""

import re

from widget_contract.texts import fold

# Longer READMEs are searched by their beginning: what a widget does is said there.
_README_CHARACTERS = 20_000
MAX_README_TOKENS = 100
_MAX_CHARACTERS = 30
_MAX_QUERY_TOKENS = 12

_TOKEN = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"\(?\bhttps?:[^\s)>]+")
# Words without a subject: they are ignored in a query that has others, and in READMEs.
_STOP_WORDS = frozenset(
    """a an and are as at be by for from how i in is it its me my not of on or that the this to up
    use what with you your all can if when which has have was will no one
    aus das dem den der die ein eine einem einen einer es fur im ist mit nach oder sich sie und
    unter von vor wie zu zum zur auf auch bei wird werden nicht""".split()
)


def tokens(folded: str) -> list[str]:
    """The letters and digits of a folded text, split at everything else."""
    return _TOKEN.findall(folded)


def query_tokens(folded: str) -> list[str]:
    """What to look for, in order, without duplicates; a query of symbols alone is one word each.

    Of very long queries only the first words, because each of them takes time.
    """
    found = list(dict.fromkeys(tokens(folded) or folded.split()))
    return ([it for it in found if it not in _STOP_WORDS] or found)[:_MAX_QUERY_TOKENS]


def readme_tokens(markdown: str) -> list[str]:
    """The first distinct words of a README, folded."""
    text = fold(_ADDRESS.sub(" ", markdown[:_README_CHARACTERS]))
    found: dict[str, None] = {}
    for it in tokens(text):
        if 1 < len(it) <= _MAX_CHARACTERS and it not in _STOP_WORDS:
            found[it] = None
            if len(found) == MAX_README_TOKENS:
                break
    return list(found)
