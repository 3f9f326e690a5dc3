"""Our versions and ranges compared with npm's own `semver`."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from widget_contract.semver import MAX_NUMBER, InvalidRange, InvalidVersion, Range, SemVer

pytestmark = pytest.mark.slow

QUESTIONS = 20_000
SEED = 20_260_131

# npm accepts a leading v and blanks around a version; a catalog does not.
NPM_RESPONSES = r"""
const semver = require("semver");
const withPrereleases = { includePrerelease: true };
const isVersion = (text) => semver.valid(text) !== null && !/^v|\s/.test(text);
const questions = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(questions.map(([range, version, other]) => [
  semver.validRange(range, withPrereleases) !== null,
  isVersion(version),
  isVersion(version) && semver.satisfies(version, range, withPrereleases),
  isVersion(version) && isVersion(other) ? semver.compare(version, other) : null,
])));
"""


class Question(NamedTuple):
    range: str
    version: str
    other_version: str


class Reply(NamedTuple):
    is_range: bool
    is_version: bool
    is_admitted: bool
    comparison: int | None
    """Of the two versions: -1, 0 or 1."""


class Author:
    """Generates ranges and versions: mostly sensible, often edge cases, sometimes nonsense."""

    _BLANKS = (" ", " ", " ", "  ", "\t", "\n", "\u00a0", "\ufeff", "\u2003 ")
    _WORDS = ("alpha", "beta", "rc", "a", "x", "v", "-", "--", "0a", "00x", "A", "Z-9")
    _EDGES = (MAX_NUMBER - 1, MAX_NUMBER, MAX_NUMBER + 1, 10**20, 10**25)
    _ODD_DASHES = ("  -  ", "\t- ", "- ", " -", "-", " - - ", " -\u00a0")
    _NOISE = " \t\u00a0\ufeff\u0085\u200b\u0661||<>=~^-+.*xXv0123abé"

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._pick = self._random.choice

    def question(self) -> Question:
        text = self.range()
        return Question(text, self.version_near(text), self.version_near(text))

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
        """A version at or next to one in `text`, if there is any."""
        named = re.findall(r"([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:-([0-9a-zA-Z.-]+))?", text)
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
        """`text` with one character inserted, removed or doubled."""
        at = self._random.randrange(len(text) + 1)
        noise = self._pick((self._pick(self._NOISE), "", text[at : at + 1] * 2))
        return text[:at] + noise + text[at + self._pick((0, 1)) :]

    def _chance(self, share: float) -> bool:
        return self._random.random() < share


def test_npm_gives_the_same_responses(node: Path, npm_folder: Path) -> None:
    author = Author(SEED)
    questions = [author.question() for _ in range(QUESTIONS)]

    responses = ask_npm(node, npm_folder, questions)

    differences = [
        (question, f"npm: {npms}", f"we: {ours}")
        for question, npms in zip(questions, responses, strict=True)
        if npms != (ours := our_response(question))
    ]
    assert differences == []
    # The generated cases are useful: every kind of result is frequent enough.
    assert 0.4 < share(response.is_admitted for response in responses) < 0.6
    assert 0.05 < share(not response.is_range for response in responses) < 0.25
    assert 0.01 < share(not response.is_version for response in responses) < 0.25
    assert {response.comparison for response in responses} == {-1, 0, 1, None}


def ask_npm(node: Path, npm_folder: Path, questions: list[Question]) -> list[Reply]:
    answered = subprocess.run(
        [node, "-e", NPM_RESPONSES],
        input=json.dumps(questions),
        cwd=npm_folder,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert answered.returncode == 0, answered.stderr
    return [Reply(*response) for response in json.loads(answered.stdout)]


def our_response(question: Question) -> Reply:
    sdk_range = find_range(question.range)
    version, other = find_version(question.version), find_version(question.other_version)
    return Reply(
        is_range=sdk_range is not None,
        is_version=version is not None,
        is_admitted=sdk_range is not None and version is not None and sdk_range.admits(version),
        comparison=(version > other) - (version < other) if version and other else None,
    )


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


def share(statements: Iterable[bool]) -> float:
    return sum(statements) / QUESTIONS
