"""Our versions and ranges give the answers of npm's own `semver`, which is asked beside them."""

import json
import re
import subprocess
from collections import Counter
from random import Random
from typing import Any

import pytest
from conftest import NodeWithSemver

from widget_catalog.domain.semver import (
    MAX_NUMBER,
    MAX_RANGE_LENGTH,
    InvalidRange,
    InvalidVersion,
    Range,
    SemVer,
)

QUESTIONS = 20_000

# npm forgives a leading v and blanks around a version; a catalog does not.
NPM_ANSWERS = r"""
const semver = require("semver");
const prereleasesToo = { includePrerelease: true };
const isVersion = (text) => semver.valid(text) !== null && !/^v|\s/.test(text);
const { questions, pairs } = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({
  questions: questions.map(([range, version]) => [
    semver.validRange(range, prereleasesToo) !== null,
    isVersion(version),
    isVersion(version) && semver.satisfies(version, range, prereleasesToo),
  ]),
  pairs: pairs.map(([one, other]) => semver.compare(one, other)),
}));
"""


class Author:
    """Writes ranges and versions: mostly sensible, often on the edge, sometimes nonsense."""

    _BLANKS = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\ufeff", "\u2003 ")
    _WORDS = ("alpha", "beta", "rc", "a", "x", "v", "-", "--", "0a", "00x", "A", "Z-9")
    _EDGES = (MAX_NUMBER - 1, MAX_NUMBER, MAX_NUMBER + 1, 10**20, 10**25)
    _ODD_DASHES = ("  -  ", "\t- ", "- ", " -", "-", " - - ", " -\u00a0")
    _NOISE = " \t\u00a0\ufeff\u0085\u200b\u0661||<>=~^-+.*xXv0123abé"

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._pick = self._random.choice

    def question(self) -> tuple[str, str]:
        text = self.range()
        return text, self.version_near(text)

    def range(self) -> str:
        alternatives = [self._alternative() for _ in range(self._pick((1, 1, 1, 1, 2, 2, 3)))]
        text = self._pick(("||", " || ", "|| ", "\t||")).join(alternatives)
        if self._chance(0.04):
            text = self._blank() + text + self._blank()
        while self._chance(0.08):
            text = self._smudged(text)
        return text

    def version(self) -> str:
        prerelease = "-" + self._prerelease() if self._chance(0.4) else ""
        text = f"{self._number()}.{self._number()}.{self._number()}{prerelease}{self._build()}"
        while self._chance(0.05):
            text = self._smudged(text)
        return text

    def version_near(self, text: str) -> str:
        """A version at or beside one that `text` names, if it names any."""
        named = re.findall(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9a-zA-Z.-]+))?", text)
        if not named or self._chance(0.2):
            return self.version()
        *numbers, prerelease = self._pick(named)
        parts = [int(number or self._pick("0013")) for number in numbers]
        if self._chance(0.5):
            position = self._pick((0, 1, 1, 2, 2))
            parts[position] = max(0, parts[position] + self._pick((-1, 1, 1)))
            parts[position + 1 :] = [self._pick((0, 0, 1)) for _ in parts[position + 1 :]]
        suffixes = [prerelease, prerelease, prerelease + ".0", "0", self._prerelease(), "", ""]
        suffix = self._pick(suffixes).strip(".")
        return f"{parts[0]}.{parts[1]}.{parts[2]}{suffix and '-' + suffix}{self._build()}"

    def _alternative(self) -> str:
        kind = self._random.random()
        if kind < 0.15:
            dash = self._pick(self._ODD_DASHES) if self._chance(0.1) else " - "
            low, high = self._two_numbers()
            return f"{self._partial(low)}{dash}{self._partial(high)}"
        if kind < 0.35:
            low, high = self._two_numbers()
            below = self._pick(("<", "<", "<=", "< "))
            above = self._pick((">=", ">=", ">", ">= "))
            return f"{above}{self._partial(low)}{self._blank()}{below}{self._partial(high)}"
        if kind < 0.39:
            return self._pick(("", "*", "x", " ", "*.*", "X.x.*"))
        count = self._pick((1, 1, 1, 1, 1, 2))
        return self._blank().join(self._comparator() for _ in range(count))

    def _comparator(self) -> str:
        operators = ("", "", "^", "^", "~", "~>", ">=", ">=", ">", "<", "<=", "=", "~ ", "> ", "^ ")
        rare = (">= ", "~> ", "~ >", "~> >", "> =", ">= v", "==", "= =", "^=", "~v", "~> = ", "<>")
        operator = self._pick(rare) if self._chance(0.05) else self._pick(operators)
        return operator + self._partial()

    def _partial(self, major: str = "") -> str:
        components = [self._component() for _ in range(self._pick((1, 2, 2, 3, 3, 3, 3, 3)))]
        components[0] = major or components[0]
        if self._chance(0.1):
            wild = self._random.randrange(len(components))
            components[wild:] = [self._pick("xX*") for _ in components[wild:]]
        text = ".".join(components)
        if len(components) == 3 and self._chance(0.35):
            text += "-" + self._prerelease()
        prefix = self._pick(("v", "v", "=", "v=", "vv", "v ")) if self._chance(0.04) else ""
        return prefix + text + self._build()

    def _component(self) -> str:
        return self._pick("xX*") if self._chance(0.01) else self._number()

    def _two_numbers(self) -> tuple[str, str]:
        low, high = sorted(self._random.sample((0, 0, 1, 1, 2, 2, 3, 10), 2))
        return str(low), str(high)

    def _number(self) -> str:
        if self._chance(0.003):
            return str(self._pick(self._EDGES))
        if self._chance(0.003):
            return self._pick(("00", "01", "1" * 300))
        return self._pick(("0", "0", "0", "1", "1", "1", "2", "2", "3", "9", "10", "12"))

    def _prerelease(self) -> str:
        return ".".join(self._identifier() for _ in range(self._pick((1, 1, 2, 2, 3))))

    def _identifier(self) -> str:
        if self._chance(0.02):
            return self._pick(("00", "01", "", "é", "a" * 250, "7" * 40, str(MAX_NUMBER)))
        return self._pick(self._WORDS) if self._chance(0.5) else self._pick(("0", "0", "1", "11"))

    def _build(self) -> str:
        return self._pick(("+1", "+a.b", "+00", "+-", "+")) if self._chance(0.04) else ""

    def _blank(self) -> str:
        return self._pick(self._BLANKS)

    def _smudged(self, text: str) -> str:
        """`text` with one character put in, taken away or doubled."""
        at = self._random.randrange(len(text) + 1)
        noise = self._pick((self._pick(self._NOISE), "", text[at : at + 1] * 2))
        return text[:at] + noise + text[at + self._pick((0, 1)) :]

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


def ask_npm(node: NodeWithSemver, questions: Any, pairs: Any) -> dict[str, Any]:
    answered = subprocess.run(
        [node.node, "-e", NPM_ANSWERS],
        input=json.dumps({"questions": questions, "pairs": pairs}),
        cwd=node.folder,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert answered.returncode == 0, answered.stderr
    answers: dict[str, Any] = json.loads(answered.stdout)
    return answers


def our_answer(range_text: str, version_text: str) -> list[bool]:
    """Is it a range, is it a version, does the one admit the other?"""
    sdk_range, version = find_range(range_text), find_version(version_text)
    admits = sdk_range is not None and version is not None and sdk_range.admits(version)
    return [sdk_range is not None, version is not None, admits]


def find_range(text: str) -> Range | None:
    try:
        return Range.parse(text)
    except InvalidRange:
        return None


def find_version(text: str) -> SemVer | None:
    try:
        return SemVer.parse(text)
    except InvalidVersion:
        return None


def our_comparison(one: str, other: str) -> int:
    first, second = SemVer.parse(one), SemVer.parse(other)
    return (first > second) - (first < second)
