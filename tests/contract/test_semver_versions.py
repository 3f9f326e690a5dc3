"""Semantic versions: validity and precedence."""

from contextlib import suppress
from dataclasses import FrozenInstanceError
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.semver import BUILDS, TEXTS, VERSIONS
from widget_contract.semver import MAX_NUMBER, InvalidVersion, SemVer


def test_a_version_has_its_parts() -> None:
    version = SemVer.parse("1.20.3-rc.1.x-y+build.007")

    assert (version.major, version.minor, version.patch) == (1, 20, 3)
    assert version.prerelease == ("rc", 1, "x-y")
    assert version.build == "build.007"
    assert str(version) == "1.20.3-rc.1.x-y+build.007"
    assert repr(version) == "SemVer.parse('1.20.3-rc.1.x-y+build.007')"
    assert str(version.release) == "1.20.3"


def test_a_version_cannot_be_changed() -> None:
    version = SemVer.parse("1.2.3")

    with pytest.raises(FrozenInstanceError):
        version.text = "other"  # type: ignore[misc]


def test_precedence_is_the_chain_of_the_specification() -> None:
    chain = [
        "0.0.0-0",
        "0.0.0",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1-0",
        "2.0.0",
        "2.1.0",
        "2.1.1",
        "2.1.10",
    ]
    shuffled = Random(1).sample(chain, len(chain))

    assert [str(version) for version in sorted(map(SemVer.parse, shuffled))] == chain
    assert all(SemVer.parse(low) < SemVer.parse(high) for low, high in pairwise(chain))


def test_huge_prerelease_numbers_keep_the_order_of_the_specification() -> None:
    """npm compares these as floating point numbers and finds them equal; the specification wins."""
    assert SemVer.parse("1.0.0-9007199254740992.2") < SemVer.parse("1.0.0-9007199254740993.1")


def test_text_that_is_no_semantic_version_is_refused() -> None:
    cases = [
        "",
        "1",
        "1.0",
        "1.0.",
        "1.0.0.0",
        "v1.0.0",
        "=1.0.0",
        " 1.0.0",
        "1.0.0 ",
        "1.0.0\n",
        "1. 0.0",
        "01.0.0",
        "1.00.0",
        "1.0.0-",
        "1.0.0-01",
        "1.0.0-a..b",
        "1.0.0-é",
        "1.0.0-a_b",
        "1.0.0+",
        "1.0.0+a+b",
        "1.0.0+a..b",
        "-1.0.0",
        "+1.0.0",
        "1_0.0.0",
        "١.0.0",
        "1.x.0",
        "*",
        "latest",
    ]
    for text in cases:
        with pytest.raises(InvalidVersion, match="is not a semantic version: write three numbers"):
            SemVer.parse(text)


def test_a_refusal_says_what_to_write_instead() -> None:
    with pytest.raises(InvalidVersion) as refusal:
        SemVer.parse("1.0")

    assert str(refusal.value) == (
        '"1.0" is not a semantic version: write three numbers, such as 1.0.0.'
    )


def test_a_refusal_can_always_be_shown_and_sent() -> None:
    with pytest.raises(InvalidVersion) as refusal:
        SemVer.parse("\x1b[31m\ud800" + "!" * 200)

    shown = str(refusal.value)
    assert shown.isprintable()
    assert shown.encode()
    assert len(shown) < 200


def test_versions_end_where_npm_ends_them() -> None:
    longest = "1.0.0-" + "a" * 250
    largest = f"{MAX_NUMBER}.{MAX_NUMBER}.{MAX_NUMBER}"

    assert str(SemVer.parse(longest)) == longest
    assert str(SemVer.parse(largest)) == largest
    with pytest.raises(InvalidVersion, match="at most 256 characters"):
        SemVer.parse(longest + "a")
    with pytest.raises(InvalidVersion, match="no number may be above 9007199254740991"):
        SemVer.parse(f"1.{MAX_NUMBER + 1}.0")


@given(TEXTS)
def test_reading_and_writing_a_version_changes_nothing(text: str) -> None:
    assert str(SemVer.parse(text)) == text


@given(st.text(max_size=300) | st.text(alphabet="0123.-+av ", max_size=12))
def test_whatever_text_is_read_is_written_back(text: str) -> None:
    with suppress(InvalidVersion):
        assert str(SemVer.parse(text)) == text


@given(VERSIONS, VERSIONS, VERSIONS)
def test_precedence_is_a_total_order(a: SemVer, b: SemVer, c: SemVer) -> None:
    assert (a < b) + (a == b) + (a > b) == 1
    assert (a <= b) == (a < b or a == b) == (b >= a)
    low, middle, high = sorted([a, b, c])
    assert low <= middle <= high
    assert low <= high


@given(VERSIONS, VERSIONS)
def test_precedence_follows_the_words_of_the_specification(a: SemVer, b: SemVer) -> None:
    assert (a < b) == precedes(a, b)


def precedes(a: SemVer, b: SemVer) -> bool:
    """Section 11 of Semantic Versioning 2.0.0, sentence by sentence."""
    numbers_of_a, numbers_of_b = (a.major, a.minor, a.patch), (b.major, b.minor, b.patch)
    if numbers_of_a != numbers_of_b:
        return numbers_of_a < numbers_of_b
    if not a.prerelease or not b.prerelease:
        return bool(a.prerelease) and not b.prerelease
    for one, other in zip(a.prerelease, b.prerelease, strict=False):
        if one != other:
            if isinstance(one, int) and isinstance(other, int):
                return one < other
            if isinstance(one, str) and isinstance(other, str):
                return one.encode("ascii") < other.encode("ascii")
            return isinstance(one, int)
    return len(a.prerelease) < len(b.prerelease)


@given(VERSIONS, BUILDS)
def test_build_metadata_makes_no_difference(version: SemVer, build: str) -> None:
    rebuilt = SemVer.parse(str(version).partition("+")[0] + build)

    assert rebuilt == version
    assert hash(rebuilt) == hash(version)
    assert not rebuilt < version
    assert not rebuilt > version
    assert len({rebuilt, version}) == 1


@given(VERSIONS)
def test_a_release_has_neither_prerelease_nor_build(version: SemVer) -> None:
    assert version.release.prerelease == ()
    assert version.release.build == ""
    assert version.release >= version
