"""Semantic versions, npm's version ranges, and SDK compatibility.

The catalog decides which version is newest, and what a yank means.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile
from operator import itemgetter
from typing import TypeAlias

MAX_VERSION_LENGTH = 256
MAX_RANGE_LENGTH = 1_024  # Our limit, to bound the work; npm has none.
MAX_NUMBER = 2**53 - 1  # The largest integer that JavaScript, and so npm, counts exactly.

# Major, minor, patch, then `_RELEASE` or one (rank, value) per prerelease identifier. Comparing
# two such tuples gives SemVer's precedence: numbers below words, prereleases below the release.
# (npm rounds prerelease numbers above MAX_NUMBER before it compares them; we do not.)
SortKey: TypeAlias = tuple[int, int, int, *tuple[int | str, ...]]
_NUMERIC, _WORD, _RELEASE = 0, 1, 2

# From a first key up to, but not including, a second. No version lies before `_BOTTOM`
# (0.0.0-0), none at or after `_TOP`.
_Interval: TypeAlias = tuple[SortKey, SortKey]
_BOTTOM: SortKey = (0, 0, 0, _NUMERIC, 0)
_TOP: SortKey = (MAX_NUMBER + 1, 0, 0, _NUMERIC, 0)
_start_of = itemgetter(0)

# The repetition bounds are npm's: they determine which overlong texts it rejects.
_NUMBER = r"(?:0|[1-9][0-9]{0,256})"
_IDENTIFIER = rf"(?:[0-9]{{0,256}}[a-zA-Z-][0-9a-zA-Z-]{{0,250}}|{_NUMBER})"
_PRERELEASE = rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*"
_BUILD = r"[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*"
_VERSION = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PRERELEASE}))?(?:\+({_BUILD}))?"
)

_COMPONENT = rf"(?:{_NUMBER}|[xX*])"
_PARTIAL = rf"{_COMPONENT}(?:\.{_COMPONENT}(?:\.{_COMPONENT}(?:-{_PRERELEASE})?)?)?"
_COMPARATOR = re.compile(rf"(\^|~>?|[<>]?=?)([v=]*)({_PARTIAL})")
_FULL_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE})?"
_FULL_COMPARATOR = re.compile(rf"([<>]?=?)(v?)({_FULL_VERSION})(?:\+{_BUILD})?")
_HYPHEN_RANGE = re.compile(rf" {{0,2}}([v= ]*)({_PARTIAL}) - [v= ]*({_PARTIAL}) ?")

_BLANKS = re.compile("[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_BUILD_SUFFIX = re.compile(rf"\+{_BUILD}")
# `> 1.2` becomes `>1.2`. A run of v, = and blanks that is not followed by a version is skipped as
# a whole (the third group), which keeps this linear.
_OPERATOR_BLANK = re.compile(r"( ?[<>]?=?) ?([v= ]*+[0-9xX*][0-9a-zA-Z.*-]*+)|([v= ]++)")
_TILDE_BLANK = re.compile(r"~>? ")
_STRAY_STAR = re.compile(r"[<>]?=?\*")
_NUMBER_AFTER_WILDCARD = re.compile(r"[^-]*[xX*]\.[0-9]")


class InvalidVersion(ValueError):
    """Not a valid version (Semantic Versioning 2.0.0)."""


class InvalidRange(ValueError):
    """Not a valid range in npm's grammar."""


@dataclass(frozen=True, slots=True, order=True, repr=False)
class SemVer:
    """A semantic version, created by `parse`. Build metadata is kept, but never compared."""

    sort_key: SortKey
    text: str = field(compare=False)

    @staticmethod
    def parse(text: str) -> "SemVer":
        return (_known_version if len(text) <= _SHORT else _read_version)(text)

    @property
    def major(self) -> int:
        return self.sort_key[0]

    @property
    def minor(self) -> int:
        return self.sort_key[1]

    @property
    def patch(self) -> int:
        return self.sort_key[2]

    @property
    def prerelease(self) -> tuple[int | str, ...]:
        return self.sort_key[3:][1::2]

    @property
    def release(self) -> "SemVer":
        """This version without prerelease and build."""
        numbers = self.sort_key[:3]
        return SemVer((*numbers, _RELEASE), "{}.{}.{}".format(*numbers))

    @property
    def build(self) -> str:
        return self.text.partition("+")[2]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"SemVer.parse({str(self)!r})"


@dataclass(frozen=True, slots=True)
class Range:
    """A range in npm's grammar, parsed with prereleases included.

    Every version has a successor: 1.2.4-0 follows 1.2.3, and 1.2.4-rc.0 follows 1.2.4-rc. So any
    range is a few intervals that include their start and exclude their end. They are sorted and
    disjoint, so that two ranges are equal if they admit the same versions.
    """

    intervals: tuple[_Interval, ...]

    @staticmethod
    def parse(text: str) -> "Range":
        return (_known_range if len(text) <= _SHORT else _read_range)(text)

    @property
    def is_any(self) -> bool:
        return self.intervals == ((_BOTTOM, _TOP),)

    def admits(self, version: SemVer) -> bool:
        key = version.sort_key
        at = bisect_right(self.intervals, key, key=_start_of)
        return at > 0 and key < self.intervals[at - 1][1]


def is_compatible(range_text: str, sdk: SemVer) -> bool:
    """Whether `sdk` satisfies `range_text`; an invalid range admits none.

    A prerelease SDK is also tried as its release: ^1.0.0 admits 1.0.0-rc.1.
    """
    is_short = len(range_text) <= _SHORT and len(sdk.text) <= _SHORT
    return (_known_compatible if is_short else _find_compatible)(range_text, sdk)


def _find_compatible(range_text: str, sdk: SemVer) -> bool:
    try:
        sdk_range = Range.parse(range_text)
    except InvalidRange:
        return False
    return sdk_range.admits(sdk) or sdk_range.admits(sdk.release)


def _read_range(text: str) -> Range:
    if len(text) > MAX_RANGE_LENGTH:
        raise InvalidRange(
            f"{_quoted(text)} is too long for a version range:"
            f" write at most {MAX_RANGE_LENGTH:,} characters."
        )
    try:
        alternatives = [_read_alternative(part) for part in _BLANKS.sub(" ", text).split("||")]
    except (InvalidRange, InvalidVersion):
        raise InvalidRange(
            f"{_quoted(text)} is not a version range:"
            " write it as npm does, such as ^1.2.0 or >=1.0.0 <3.0.0."
        ) from None
    return Range(_united(alternatives))


def _read_version(text: str) -> SemVer:
    if len(text) > MAX_VERSION_LENGTH:
        raise InvalidVersion(
            f"{_quoted(text)} is too long for a version:"
            f" write at most {MAX_VERSION_LENGTH} characters."
        )
    match = _VERSION.fullmatch(text)
    if match is None:
        raise InvalidVersion(
            f"{_quoted(text)} is not a semantic version: write three numbers, such as 1.0.0."
        )
    first, second, third, prerelease, _ = match.groups("")
    major, minor, patch = int(first), int(second), int(third)
    if major > MAX_NUMBER or minor > MAX_NUMBER or patch > MAX_NUMBER:
        raise InvalidVersion(
            f"{_quoted(text)} is not a usable version: no number may be above {MAX_NUMBER}."
        )
    if not prerelease:
        return SemVer((major, minor, patch, _RELEASE), text)
    ranked: list[int | str] = []
    for identifier in prerelease.split("."):
        ranked += (_NUMERIC, int(identifier)) if identifier.isdecimal() else (_WORD, identifier)
    return SemVer((major, minor, patch, *ranked), text)


# A catalog has few distinct versions, ranges and SDKs, and a cached one costs a tenth. Only short
# ones are cached, and a limited number, so that requests cannot fill the memory.
_SHORT = 40
_known_version = lru_cache(maxsize=16_384)(_read_version)
_known_range = lru_cache(maxsize=8_192)(_read_range)
_known_compatible = lru_cache(maxsize=16_384)(_find_compatible)


def _united(intervals: list[_Interval]) -> tuple[_Interval, ...]:
    """As few intervals as possible with all versions of these, in order."""
    united: list[_Interval] = []
    for start, end in sorted(intervals):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(united[-1][1], end))
        elif start < end:
            united.append((start, end))
    return tuple(united)


def _read_alternative(text: str) -> _Interval:
    """The versions that all comparators of `text` admit. It must have single spaces only."""
    text = _BUILD_SUFFIX.sub("", text.strip(" "))
    if hyphen_range := _HYPHEN_RANGE.fullmatch(text):
        return _read_hyphen_range(*hyphen_range.groups())
    text = _OPERATOR_BLANK.sub(r"\1\2\3", text)
    text = _TILDE_BLANK.sub("~", text).replace("^ ", "^")
    start, end = _BOTTOM, _TOP
    for word in filter(None, text.split(" ")):
        word_start, word_end = _read_comparator(word)
        start, end = max(start, word_start), min(end, word_end)
    return start, end


def _read_hyphen_range(prefix: str, first: str, last: str) -> _Interval:
    """Both ends include prereleases: `1.2.3 - 2` is `>=1.2.3-0 <3.0.0-0`."""
    first_numbers, last_numbers = _numbers(first), _numbers(last)
    if len(first_numbers) == 3 and (version := _full_version(prefix + first)).prerelease:
        start = version.sort_key
    else:
        start = _first_of(first_numbers)
    if len(last_numbers) == 3 and (version := _full_version(last)).prerelease:
        end = _next_key(version)
    else:
        end = _first_after(last_numbers)
    return start, end


def _read_comparator(word: str) -> _Interval:
    # npm drops a star from a word that it cannot parse otherwise: `1.2.3*` is 1.2.3.
    match = _COMPARATOR.fullmatch(word) or _FULL_COMPARATOR.fullmatch(
        _STRAY_STAR.sub("", word, count=1)
    )
    if match is None:
        raise InvalidRange(word)
    operator, prefix, partial = match.groups()
    numbers, version = _numbers(partial), None
    if len(numbers) == 3:
        version = _full_version(partial if operator[:1] in ("^", "~") else prefix + partial)
    start = version.sort_key if version else _first_of(numbers)
    if operator == "^":
        zeros = next((at for at, number in enumerate(numbers) if number), 3)
        return start, _first_after(numbers[: zeros + 1])
    if operator in ("~", "~>"):
        return start, _first_after(numbers[:2])

    if _NUMBER_AFTER_WILDCARD.match(partial):
        raise InvalidRange(word)
    if operator == ">=":
        return start, _TOP
    if operator == "<":
        return _BOTTOM, start
    end = _next_key(version) if version else _first_after(numbers)
    if operator == ">":
        return end, _TOP
    if operator == "<=":
        return _BOTTOM, end
    return start, end


def _numbers(partial: str) -> tuple[int, ...]:
    """The numbers before the first wildcard: (1, 2) in `1.2`, in `1.2.x` and in `1.2.x-rc`."""
    components = partial.partition("-")[0].split(".")
    return tuple(int(component) for component in takewhile(str.isdecimal, components))


def _first_of(numbers: tuple[int, ...]) -> SortKey:
    """The lowest of all versions that start with `numbers`: 1.2.0-0 for (1, 2)."""
    if max(numbers, default=0) > MAX_NUMBER:
        raise InvalidRange(numbers)
    major, minor, patch = (*numbers, 0, 0, 0)[:3]
    return (major, minor, patch, _NUMERIC, 0)


def _first_after(numbers: tuple[int, ...]) -> SortKey:
    """The lowest version above all that start with `numbers`: 1.3.0-0 for (1, 2)."""
    return _first_of((*numbers[:-1], numbers[-1] + 1)) if numbers else _TOP


def _next_key(version: SemVer) -> SortKey:
    if version.prerelease:
        return (*version.sort_key, _NUMERIC, 0)
    return (version.major, version.minor, version.patch + 1, _NUMERIC, 0)


def _full_version(text: str) -> SemVer:
    """A version inside a range, where npm allows one leading v and includes it in the length."""
    if len(text) > MAX_VERSION_LENGTH:
        raise InvalidRange(text)
    return SemVer.parse(text.removeprefix("v"))


def _quoted(text: str) -> str:
    """`text` for a message: shortened, without control characters and surrogates."""
    shown = text if len(text) <= 80 else text[:80] + "…"
    return f'"{repr(shown)[1:-1]}"'
