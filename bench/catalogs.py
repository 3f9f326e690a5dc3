"""Made-up catalogs of any size, the same for the same size: words as people use them.

Names and descriptions draw from a vocabulary with the long tail that real text has: a few
words are everywhere, most are rare.
"""

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

COMMON = """clock weather calendar notes sensor chart list music photo timer energy power light
door window garden kitchen office news stocks traffic bus train flight game score health sleep
steps heart camera lock alarm fan heat cool water rain wind solar battery storage server network
disk memory queue build deploy error log status map route home room family school task habit
budget price order mail chat video radio podcast recipe book quote word color shape face""".split()
WIDGETS_A_SCOPE = 100

_SEED = 20260131
_GLUE = "a the for with and of your in on to from by every one all new small live simple".split()
_SYLLABLES = [consonant + vowel for consonant in "bdklmnrstvz" for vowel in "aeiou"]
_RANGES = ("^1.0.0", "^2.0.0", ">=1.2 <3", "1.x || 2.x", "~2.1.0", "^3.0.0-beta.1", "*")
_ICONS = ("mdi:clock", "mdi:weather-sunny", "lucide:calendar", "mdi:chart-line", "lucide:list")
_PERMISSIONS = ("network", "storage", "geolocation", "notifications", "camera")


class Vocabulary:
    """Common words, then rare ones, with frequencies that fall like 1/rank."""

    def __init__(self, size: int) -> None:
        rng = random.Random(_SEED)
        rare = {"".join(rng.choices(_SYLLABLES, k=rng.randint(2, 5))) for _ in range(size)}
        rare_words = sorted(rare.difference(COMMON))
        rng.shuffle(rare_words)
        self.words = COMMON + rare_words
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(len(self.words))))

    def some(self, rng: random.Random, count: int) -> list[str]:
        return rng.choices(self.words, cum_weights=self._weights, k=count)


def vocabulary_of(widgets: int) -> Vocabulary:
    """The words that a catalog of this many widgets is written in."""
    return Vocabulary(min(200_000, 2_000 + widgets // 4))


def scope_of(number: int) -> str:
    return f"scope-{number // WIDGETS_A_SCOPE:05d}"


def key_of(number: int) -> str:
    return f"{scope_of(number)}/widget-{number:07d}"


def lines(
    widgets: int, versions_each: int = 5, *, is_exact: bool = False, has_texts: bool = False
) -> Iterator[bytes]:
    """The catalog as NDJSON, `versions_each` versions a widget: on average, or exactly.

    `has_texts`: with keywords, and for a third of the widgets with a README of 60 words.
    """
    least, most = (versions_each, versions_each) if is_exact else (1, versions_each * 2 - 1)
    rng, texts = random.Random(_SEED), random.Random(_SEED + 1)
    vocabulary = vocabulary_of(widgets)
    encode = msgspec.json.Encoder().encode
    for number in range(widgets):
        widget = _widget(rng, vocabulary, number, (least, most))
        if has_texts:
            manifest = encode(_manifest(texts, vocabulary)).decode()
            widget["versions"] = [it | {"manifest": manifest} for it in widget["versions"]]
        yield encode(widget) + b"\n"


def _manifest(rng: random.Random, vocabulary: Vocabulary) -> dict[str, object]:
    keywords = sorted(set(vocabulary.some(rng, rng.randint(1, 4))))
    readme = vocabulary.some(rng, 60) if rng.random() < 1 / 3 else []
    return {"keywords": keywords, "readme": " ".join(readme) or None}


def write(path: Path, widgets: int, versions_each: int = 5) -> None:
    with path.open("wb") as file:
        file.writelines(lines(widgets, versions_each))


def _widget(
    rng: random.Random, vocabulary: Vocabulary, number: int, versions: tuple[int, int]
) -> dict[str, Any]:
    name = " ".join(vocabulary.some(rng, rng.randint(1, 3))).title()
    words = vocabulary.some(rng, rng.randint(4, 12))
    for i in range(1, len(words), 3):
        words.insert(i, rng.choice(_GLUE))
    scope, widget = key_of(number).split("/")
    return {
        "scope": scope,
        "name": widget,
        "displayName": name,
        "description": " ".join(words).capitalize() + ".",
        "icon": rng.choice(_ICONS),
        "isOfficial": rng.random() < 0.05,
        "listed": True,
        "downloadCount": int(rng.paretovariate(0.7)),
        "createdAt": _instant(number, 0),
        "versions": [
            _version(rng, scope, widget, number, i) for i in range(rng.randint(*versions))
        ],
    }


def _version(rng: random.Random, scope: str, name: str, number: int, i: int) -> dict[str, object]:
    version = f"{1 + i // 4}.{i % 4}.{rng.randint(0, 3)}"
    return {
        "version": version,
        "bundleUrl": f"https://cdn.example/@{scope}/{name}/{version}/index.js",
        "bundleSize": rng.randint(2_000, 200_000),
        "sha256Hash": f"{rng.getrandbits(256):064x}",
        "publishedAt": _instant(number, i + 1),
        "yanked": rng.random() < 0.03,
        "releaseNotes": f"Release {version}: repairs and small comforts.",
        "minSize": {"w": 1, "h": 1},
        "maxSize": {"w": 6, "h": 4},
        "sdkVersion": rng.choice(_RANGES),
        "configVersion": 1 + i // 4,
        "permissions": rng.sample(_PERMISSIONS, rng.randint(0, 2)),
        "license": "MIT",
    }


def _instant(number: int, step: int) -> str:
    day = (number * 7 + step * 31) % 560
    year, month, date = 2025 + day // 336, day % 336 // 28 + 1, day % 28 + 1
    return f"{year}-{month:02d}-{date:02d}T{number % 24:02d}:{step % 60:02d}:00.000Z"
