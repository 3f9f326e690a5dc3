"""npm's ranges, and the SDKs they admit."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.semver import (
    COMPARATORS,
    NUMBERS,
    PARTIALS,
    RANGES,
    VERSIONS,
)
from widget_contract import semver
from widget_contract.semver import (
    MAX_NUMBER,
    MAX_RANGE_LENGTH,
    InvalidRange,
    Range,
    SemVer,
    is_compatible,
)


def admits(range_text: str, version: SemVer | str) -> bool:
    if isinstance(version, str):
        version = SemVer.parse(version)
    return Range.parse(range_text).admits(version)


def test_a_range_admits_what_npm_says() -> None:
    cases = [
        ("1.2.3", "1.2.3 1.2.3+build", "1.2.4 1.2.3-rc 1.2.2"),
        ("=1.2.3", "1.2.3", "1.2.4 1.2.3-rc"),
        ("v1.2.3", "1.2.3", "1.2.4"),
        ("1.2.3+build", "1.2.3", "1.2.4"),
        (">1.2.3", "1.2.4-0 1.2.4 2.0.0", "1.2.3 1.2.3-rc"),
        (">=1.2.3", "1.2.3 1.2.4-0", "1.2.3-rc 1.2.2"),
        ("<1.2.3", "1.2.2 1.2.3-rc 0.0.0-0", "1.2.3"),
        ("<=1.2.3", "1.2.3 1.2.3-rc", "1.2.4-0"),
        (">=1.2.3-rc.1", "1.2.3-rc.1 1.2.3-rc.1.0 1.2.3", "1.2.3-rc.0 1.2.3-beta"),
        ("<=1.2.3-rc.1", "1.2.3-rc.1 1.2.3-alpha", "1.2.3-rc.1.0 1.2.3-rc.2 1.2.3"),
        (">1.2", "1.3.0-0 1.3.0 2.0.0", "1.2.0 1.2.9"),
        (">=1.2", "1.2.0-0 1.2.0", "1.1.9"),
        ("<1.2", "1.1.9", "1.2.0-0 1.2.0"),
        ("<=1.2", "1.2.9", "1.3.0-0"),
        ("1", "1.0.0-0 1.9.9", "0.9.9 2.0.0-0"),
        ("1.x", "1.0.0-0 1.9.9", "0.9.9 2.0.0-0"),
        ("1.2.*", "1.2.0-0 1.2.9", "1.1.9 1.3.0-0"),
        ("^1.2.3", "1.2.3 1.9.0", "1.2.3-rc 1.2.2 2.0.0-0 2.0.0"),
        ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0-0"),
        ("^0.0.3", "0.0.3", "0.0.2 0.0.4-0"),
        ("^0.0", "0.0.0-0 0.0.9", "0.1.0-0"),
        ("^0", "0.0.0-0 0.9.9", "1.0.0-0"),
        ("^1.2.3-beta.2", "1.2.3-beta.2 1.2.3 1.9.9-rc", "1.2.3-beta.1 2.0.0-0"),
        ("~1.2.3", "1.2.3 1.2.9", "1.2.3-rc 1.3.0-0"),
        ("~1.2", "1.2.0-0 1.2.9", "1.3.0-0"),
        ("~1", "1.0.0-0 1.9.9", "2.0.0-0"),
        ("~>1.2.3", "1.2.3 1.2.9", "1.3.0-0"),
        ("1.2.3 - 2.3.4", "1.2.3-0 1.2.3 2.3.4", "1.2.2 2.3.5-0"),
        ("1.2 - 2.3", "1.2.0-0 2.3.9", "1.1.9 2.4.0-0"),
        ("1.2.3-rc - 2.0.0-rc", "1.2.3-rc 2.0.0-rc", "1.2.3-beta 2.0.0-rc.0 2.0.0"),
        (">=1 <3", "1.0.0 2.9.9", "0.9.9 3.0.0-0"),
        ("1.x || 3.x", "1.5.0 3.0.0", "2.0.0 4.0.0"),
        ("1.x||>=3 <3.2 || 5.0.0", "1.0.0 3.1.0 5.0.0", "2.0.0 3.2.0 5.0.1"),
        (">x", "", "0.0.0-0 1.0.0"),
        (">2 <1", "", "0.0.0 1.0.0 1.5.0 2.0.0 3.0.0"),
        ("  >=\t1.2.3   <  2 ", "1.2.3", "2.0.0"),
        ("1.2.3*", "1.2.3", "1.2.4"),
    ]
    for range_text, admitted, refused in cases:
        assert [text for text in admitted.split() if not admits(range_text, text)] == []
        assert [text for text in refused.split() if admits(range_text, text)] == []


def test_text_that_npm_cannot_read_is_refused() -> None:
    cases = [
        "latest",
        "1.2.3.4",
        "1.2-beta",
        "1.x.3",
        "x.1",
        "01.2.3",
        "1.2.3-01",
        "vv1.2.3",
        "==1.2.3",
        "> = 1.2.3",
        ">",
        "^",
        "1.2.3 -",
        "1.2.3 -2.0.0",
        "1 - 2 - 3",
        "1 | 2",
        "1, 2",
        ">=1.2.3 and <2",
        "^~1.2",
        "١.2.3",
        "1.2.3\x852",
        f"^{MAX_NUMBER}",
        f">={MAX_NUMBER + 1}",
        "git+https://example.org/sdk.git",
    ]
    for text in cases:
        with pytest.raises(InvalidRange) as refusal:
            Range.parse(text)

        assert str(refusal.value).endswith(
            "is not a version range: write it as npm does, such as ^1.2.0 or >=1.0.0 <3.0.0."
        )


@pytest.mark.parametrize(
    "text", ["", " ", "*", "x", "X.x.*", ">=*", "^x", "||", "1.2.3 || *", ">=0"]
)
def test_a_range_that_admits_everything_says_so(text: str) -> None:
    assert Range.parse(text).is_any


@pytest.mark.parametrize("text", [">=0.0.0", "0.x", ">x", "<1 || >1", "^1.2.3"])
def test_a_range_that_leaves_anything_out_says_so(text: str) -> None:
    assert not Range.parse(text).is_any


def test_alternatives_that_leave_no_gap_admit_everything() -> None:
    assert Range.parse("<1 || >=1").is_any
    assert Range.parse(">1.2.3 || <=1.2.3").is_any
    assert Range.parse("<1.2.3-rc || 1.2.3-rc - 2 || >=3").is_any


def test_a_range_of_more_than_1024_characters_is_refused() -> None:
    longest = "1.2.3 || " * 200

    assert admits(longest[:MAX_RANGE_LENGTH].rstrip("|. "), "1.2.3")
    with pytest.raises(InvalidRange, match="at most 1,024 characters"):
        Range.parse(longest)


def test_hostile_text_is_answered_at_once() -> None:
    """In a few milliseconds each; the limit allows for a busy machine."""
    cases = [
        *"=v +*09",
        "v=",
        "= ",
        "> ",
        "~ ",
        "^ ",
        "+a",
        "+a ",
        "1.",
        "a-",
        "1 - ",
        "||",
        "<*",
        "x.",
        "~>",
        "1.2.3-",
        "1.2.3 - ",
        "1.2.3-a.",
        "1.2.3+a.",
        ">=1 ",
        "\u2003v",
    ]
    for pattern in cases:
        texts = [prefix + pattern * 5_000 for prefix in ("", "1.2.3", ">", "1 - ")]
        started = time.process_time()

        for text in texts:
            for length in (MAX_RANGE_LENGTH, MAX_RANGE_LENGTH - 1, 10_000):
                is_compatible(text[:length], SemVer.parse("1.2.3"))

        assert time.process_time() - started < 0.5


@given(VERSIONS, VERSIONS)
def test_primitives_are_comparisons(bound: SemVer, version: SemVer) -> None:
    assert admits(f"{bound}", version) == (version == bound)
    assert admits(f"={bound}", version) == (version == bound)
    assert admits(f">{bound}", version) == (version > bound)
    assert admits(f">={bound}", version) == (version >= bound)
    assert admits(f"<{bound}", version) == (version < bound)
    assert admits(f"<={bound}", version) == (version <= bound)


@given(VERSIONS, VERSIONS)
def test_caret_keeps_all_up_to_the_first_number_that_is_not_zero(
    bound: SemVer, version: SemVer
) -> None:
    numbers = [bound.major, bound.minor, bound.patch]
    kept = next((at for at, number in enumerate(numbers) if number), 2) + 1
    is_kept = [version.major, version.minor, version.patch][:kept] == numbers[:kept]

    assert admits(f"^{bound}", version) == (version >= bound and is_kept)


@given(VERSIONS, VERSIONS)
def test_tilde_keeps_major_and_minor(bound: SemVer, version: SemVer) -> None:
    is_kept = (version.major, version.minor) == (bound.major, bound.minor)

    assert admits(f"~{bound}", version) == (version >= bound and is_kept)
    assert Range.parse(f"~>{bound}") == Range.parse(f"~{bound}")


@given(NUMBERS, NUMBERS, VERSIONS)
def test_a_wildcard_admits_all_that_begin_so(major: int, minor: int, version: SemVer) -> None:
    begins_so = (version.major, version.minor) == (major, minor)

    assert admits(f"{major}", version) == (version.major == major)
    assert admits(f"{major}.{minor}", version) == begins_so
    for written in (f"{major}.{minor}.x", f"={major}.{minor}", f"~{major}.{minor}"):
        assert Range.parse(written) == Range.parse(f"{major}.{minor}")


@given(PARTIALS, PARTIALS)
def test_a_hyphen_range_is_its_two_bounds(low: str, high: str) -> None:
    """A release as a bound includes its own prereleases, as in npm."""
    bare = low.partition("+")[0]
    is_release = bare.count(".") == 2 and bare.replace(".", "").isdecimal()
    lower = f">={bare}-0" if is_release else f">={bare}"

    assert Range.parse(f"{low} - {high}") == Range.parse(f"{lower} <={high}")


@given(RANGES, RANGES, VERSIONS)
def test_two_pipes_unite(one: str, other: str, version: SemVer) -> None:
    either = admits(one, version) or admits(other, version)

    assert admits(f"{one} || {other}", version) == either
    assert Range.parse(f"{one}||{other}") == Range.parse(f"{other} || {one}")


@given(COMPARATORS, COMPARATORS, VERSIONS)
def test_a_blank_intersects(one: str, other: str, version: SemVer) -> None:
    both = admits(one, version) and admits(other, version)

    assert admits(f"{one} {other}", version) == both
    assert Range.parse(f"{one} {other}") == Range.parse(f"{other} {one}")


@given(RANGES, st.sampled_from([" ", "\t", "\n", "\u00a0", "\ufeff", " \u3000 "]))
def test_the_kind_and_number_of_blanks_make_no_difference(text: str, blank: str) -> None:
    assert Range.parse(blank + text.replace(" ", blank) + blank) == Range.parse(text)


@given(VERSIONS)
def test_below_and_above_leave_out_one_version_alone(version: SemVer) -> None:
    assert Range.parse(f"<{version} || >={version}").is_any
    assert not Range.parse(f"<{version} || >{version}").is_any
    assert Range.parse(f"<{version} || >{version} || {version}").is_any


@pytest.mark.parametrize(
    ("range_text", "sdk", "expected"),
    [
        ("^1.0.0", "1.4.2", True),
        ("^1.0.0", "2.0.0", False),
        ("^1.0.0", "1.0.0-rc.1", True),
        ("^1.0.0", "2.0.0-rc.1", False),
        (">=1.0.0-rc.2", "1.0.0-rc.1", True),
        ("<1.0.0", "1.0.0-rc.1", True),
        ("1.0.0-rc.1", "1.0.0-rc.1", True),
        ("1.0.0-rc.1", "1.0.0", False),
        ("^1.0.0", "1.0.0+sha.1", True),
        ("1.0.0+sha.2", "1.0.0+sha.1", True),
        ("*", "0.0.0-0", True),
        ("", "0.0.0-0", True),
        ("not a range", "1.0.0", False),
        ("^1.0.0 || oops", "1.0.0", False),
    ],
)
def test_an_sdk_is_compatible_by_the_rule(range_text: str, sdk: str, expected: bool) -> None:
    assert is_compatible(range_text, SemVer.parse(sdk)) is expected


@given(RANGES, VERSIONS)
def test_a_prerelease_sdk_is_also_tried_as_its_release(range_text: str, sdk: SemVer) -> None:
    expected = admits(range_text, sdk) or admits(range_text, sdk.release)

    assert is_compatible(range_text, sdk) is expected


@given(st.text() | st.text(alphabet=" \t0123x*v=<>~^-+.|a", max_size=40), VERSIONS)
def test_no_text_is_ever_an_error(range_text: str, sdk: SemVer) -> None:
    assert is_compatible(range_text, sdk) in (True, False)


def test_a_range_that_is_too_long_admits_no_sdk_and_takes_no_memory() -> None:
    remembered = semver._known_compatible.cache_info().currsize

    assert not is_compatible("*" + " " * MAX_RANGE_LENGTH, SemVer.parse("1.0.0"))
    assert semver._known_compatible.cache_info().currsize == remembered


def test_long_versions_and_ranges_are_read_and_take_no_memory() -> None:
    """Anyone can request any SDK: caching long ones would let them exhaust the memory."""
    caches = (semver._known_version, semver._known_range, semver._known_compatible)
    remembered = [cache.cache_info().currsize for cache in caches]
    sdk = SemVer.parse("1.0.0-" + ".".join(["rc"] * 80))

    assert is_compatible("^1.0.0", sdk)
    assert is_compatible(" || ".join(["^1.0.0"] * 20), SemVer.parse("1.2.3-" + "a" * 100))
    sizes = [cache.cache_info().currsize for cache in caches]
    assert sizes[0] == remembered[0]
    assert sizes[1] <= remembered[1] + 1  # `^1.0.0` itself
    assert sizes[2] == remembered[2]
