"""A catalog of some 300 widgets, and queries with the widgets that people would want to find.

The grades were given by what a widget is for, before any ranking was tried on them.
"""

import json
import re
from collections.abc import Sequence
from math import log2
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from support.widgets import version_line, widget_line

_HERE = Path(__file__).parent


class JudgedWidget(NamedTuple):
    key: str
    display_name: str
    description: str
    keywords: list[str]
    readme: str | None
    tags: frozenset[str]

    def line(self) -> dict[str, Any]:
        """As a line to import. A few have many installs, most have some."""
        chance = crc32(self.key.encode())
        manifest = {"keywords": self.keywords, "readme": self.readme}
        return widget_line(
            self.key,
            displayName=self.display_name,
            description=self.description,
            downloadCount=10_000 // (1 + chance % 97),
            isOfficial=self.key.startswith("acme/"),
            versions=[version_line(manifest=json.dumps(manifest))],
        )


class JudgedQuery(NamedTuple):
    text: str
    grades: dict[str, int]
    """0 to 3 by `scope/name`; those that are missing have 0."""

    def ndcg(self, found: Sequence[str], depth: int = 10) -> float:
        """The normalized discounted cumulative gain of these results: 1 is the best order."""
        best = sorted(self.grades.values(), reverse=True)
        return _gain([self.grades.get(it, 0) for it in found[:depth]]) / _gain(best[:depth])


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / log2(place + 2) for place, grade in enumerate(grades))


def read_widgets() -> list[JudgedWidget]:
    topic, widgets = "", []
    for line in _lines("widgets.txt"):
        if line.startswith("["):
            topic = line.strip("[]")
            continue
        key, name, description, keywords, readme, tags = line.split("|")
        shown = None if readme == "-" else f"# {name}\n\n{readme}\n"
        named = frozenset({topic, *tags.split()})
        widgets.append(JudgedWidget(key, name, description, keywords.split(","), shown, named))
    return widgets


def read_queries(widgets: Sequence[JudgedWidget]) -> list[JudgedQuery]:
    queries = []
    for line in _lines("queries.txt"):
        text, _, groups = line.partition(" | ")
        grades: dict[str, int] = {}
        for group, grade in re.findall(r"(\S+):([0-3])", groups):
            wanted = set(group.split("+"))
            members = [it.key for it in widgets if it.key == group or wanted <= it.tags]
            assert members, f"{text}: nothing is {group}"
            for key in members:
                grades[key] = max(grades.get(key, 0), int(grade))
        queries.append(JudgedQuery(text, grades))
    return queries


def _lines(name: str) -> list[str]:
    lines = (_HERE / name).read_text("utf-8").splitlines()
    return [it for it in lines if it and not it.startswith("#")]
