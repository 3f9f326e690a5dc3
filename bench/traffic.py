"""The requests: URLs of details and searches, as dashboards send them."""

import random
from collections.abc import Sequence
from itertools import combinations, permutations
from string import ascii_lowercase
from urllib.parse import quote_plus

import msgspec

from .catalogs import COMMON, key_of, lines, scope_of, vocabulary_of

SDKS = ("1.4.0", "2.1.3", "3.0.0", "2.0.0-beta.2")
# As sent by a browser; the catalog then uses zstd.
ACCEPTS_COMPRESSED = {"Accept-Encoding": "gzip, deflate, br, zstd"}

_SEED = 1
_FREQUENT_WORDS = 1_000
_EVER_NEW = 20_000


def detail_target(number: int) -> str:
    return f"/api/v1/widgets/{key_of(number)}"


def detail_targets(widgets: int, count: int) -> list[str]:
    """This many different widgets, spread over the catalog."""
    if count >= widgets:
        return [detail_target(number) for number in range(widgets)]
    return [detail_target(it) for it in random.Random(_SEED).sample(range(widgets), count)]


def version_targets(widgets: int, versions_each: int) -> list[str]:
    """The first version of every widget of a catalog with exactly this many versions a widget."""
    made = lines(widgets, versions_each, is_exact=True)
    found = (msgspec.json.decode(it)["versions"][0]["version"] for it in made)
    return [f"{detail_target(number)}/{version}" for number, version in enumerate(found)]


def registry_target(number: int) -> str:
    """The registry of the scope that this widget is in."""
    return f"/api/widgets/{scope_of(number)}/registry.json"


def search_target(q: str, page: int = 1, sdk: str = "") -> str:
    target = f"/api/v1/widgets/search?q={quote_plus(q)}&limit=20"
    if page > 1:
        target += f"&page={page}"
    return f"{target}&compatSdk={sdk}" if sdk else target


def page_target(target: str) -> str:
    """The page that corresponds to this URL of the API."""
    path = target.removeprefix("/api/v1/widgets")
    return path if path.startswith("/search") else f"/widgets{path}"


def everyday_searches() -> list[tuple[str, int]]:
    """(q, page) as people search: one common word, sometimes the next page, or two words."""
    words = [(word, page) for word in COMMON for page in (1, 2, 3)]
    return words + [(pair, 1) for pair in _pairs(COMMON, 250)]


def ever_new_searches() -> list[tuple[str, int]]:
    """Far more than a worker remembers responses: two of the commonest words, typed in part or
    whole, pages 1 to 3."""
    typed = {word[:stop]: 0 for word in COMMON[:30] for stop in range(3, len(word) + 1)}
    searches = [
        (f"{first} {second}", page)
        for first, second in permutations(typed, 2)
        if first[:3] != second[:3]
        for page in (1, 2, 3)
    ]
    return random.Random(_SEED).sample(searches, _EVER_NEW)


def terms_by_kind(widgets: int, most: int = 1_000) -> dict[str, list[str]]:
    """Distinct queries of four kinds, enough that caching does not hide their cost."""
    words = vocabulary_of(widgets).words
    rng = random.Random(_SEED)
    common = {
        word[start:stop]
        for word in COMMON
        for start in range(len(word))
        for stop in range(start + 3, len(word) + 1)
    }
    kinds = {
        "common": sorted(common),
        "rare": rng.sample(words[len(words) // 2 :], min(most, len(words) // 2)),
        "two-term": _pairs(words[:_FREQUENT_WORDS], most),
        "two-letter": [a + b for a in ascii_lowercase for b in ascii_lowercase],
    }
    for terms in kinds.values():
        rng.shuffle(terms)
    return {kind: terms[:most] for kind, terms in kinds.items()}


def _pairs(words: Sequence[str], most: int) -> list[str]:
    pairs = [f"{first} {second}" for first, second in combinations(words, 2)]
    return random.Random(_SEED).sample(pairs, min(most, len(pairs)))
