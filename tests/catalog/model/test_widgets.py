"""Widget and Version: newest, latest and compatible."""

from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.values import PUBLISHED, a_version, a_widget
from widget_catalog.catalog.model.widgets import newness, runs_on
from widget_catalog.core.clock import iso
from widget_catalog.core.errors import StoreUnavailable
from widget_contract.semver import SemVer

DAY = timedelta(days=1)


def test_newest_is_published_last_and_then_by_semver_precedence() -> None:
    versions = [
        a_version("1.9.4", published_at=PUBLISHED + DAY),
        a_version("10.0.0"),
        a_version("9.0.0"),
        a_version("9.0.0-rc.10"),
        a_version("9.0.0-rc.2"),
        a_version("9.0.0-alpha"),
        a_version("99.0.0", published_at=PUBLISHED - DAY),
    ]
    for shuffled in list(permutations(versions))[::97]:
        assert a_widget("a/b", *shuffled).versions == tuple(versions)


def test_latest_is_the_newest_that_is_not_yanked() -> None:
    old = a_version("2.0.0")
    new = a_version("1.0.0", published_at=PUBLISHED + DAY)
    pulled = a_version("3.0.0", published_at=PUBLISHED + 2 * DAY, is_yanked=True)

    assert a_widget("a/b", old, pulled, new).latest == new
    assert a_widget("a/b", old, pulled).latest == old
    assert a_widget("a/b", pulled).latest is None
    assert a_widget("a/b").latest is None


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=8))
def test_latest_is_the_newest_of_those_left_in_any_order(
    drawn: list[tuple[int, int, bool]],
) -> None:
    versions = [
        a_version(f"{major}.0.{i}", published_at=PUBLISHED + day * DAY, is_yanked=is_yanked)
        for i, (major, day, is_yanked) in enumerate(drawn)
    ]
    widget = a_widget("a/b", *versions)

    assert list(widget.versions) == sorted(versions, key=newness, reverse=True)
    left = [it for it in versions if not it.is_yanked]
    assert widget.latest == (max(left, key=newness) if left else None)
    assert a_widget("a/b", *reversed(versions)) == widget


def test_versions_can_be_replaced_without_touching_the_widget() -> None:
    widget = a_widget("a/b", a_version("1.0.0"))
    more = widget.with_versions([a_version("1.0.0"), a_version("2.0.0")])

    assert [it.number for it in more.versions] == ["2.0.0", "1.0.0"]
    assert [it.number for it in widget.versions] == ["1.0.0"]
    assert more.latest is not None
    assert more.latest.number == "2.0.0"


@pytest.mark.parametrize(
    ("number", "identity"),
    [("1.0.0", "1.0.0"), ("1.0.0+a", "1.0.0"), ("1.0.0-rc.1+a.b-c", "1.0.0-rc.1")],
)
def test_build_metadata_is_shown_but_is_no_part_of_the_identity(number: str, identity: str) -> None:
    version = a_version(number)

    assert (version.number, version.identity) == (number, identity)


@pytest.mark.parametrize(
    ("sdk_range", "sdk", "is_compatible"),
    [
        ("^1.0.0", "1.9.0", True),
        ("^1.0.0", "2.0.0", False),
        ("^1.0.0", "1.0.0-rc.1", True),
        ("^1.0.0", "1.0.0+build", True),
        ("*", "99.0.0-alpha", True),
        ("", "0.0.1", True),
        ("not a range", "1.0.0", False),
    ],
)
def test_a_version_is_compatible_by_its_range_unless_yanked(
    sdk_range: str, sdk: str, is_compatible: bool
) -> None:
    asked = SemVer.parse(sdk)

    assert runs_on(asked, sdk_version=sdk_range, is_yanked=False) == is_compatible
    assert not runs_on(asked, sdk_version=sdk_range, is_yanked=True)


def test_widgets_and_versions_are_frozen_values() -> None:
    assert a_widget("a/b", a_version()) == a_widget("a/b", a_version())
    assert a_widget("a/b", a_version()) != a_widget("a/b", a_version(license="MIT"))
    with pytest.raises(AttributeError):
        a_version().is_yanked = True  # type: ignore[misc]


def test_a_version_published_now_is_newer_than_all_others_though_the_clock_is_behind() -> None:
    widget = a_widget("a/b", a_version("2.0.0"), a_version("1.0.0", published_at=PUBLISHED - DAY))
    millisecond = timedelta(milliseconds=1)

    assert a_widget("a/b").next_instant(PUBLISHED) == PUBLISHED
    assert widget.next_instant(PUBLISHED + DAY) == PUBLISHED + DAY
    assert widget.next_instant(PUBLISHED) == PUBLISHED + millisecond
    assert widget.next_instant(PUBLISHED - DAY) == PUBLISHED + millisecond


def test_nothing_is_published_after_a_version_from_the_far_future() -> None:
    widget = a_widget("a/b", a_version("2.0.0", published_at=PUBLISHED + 400 * DAY))

    with pytest.raises(StoreUnavailable) as refused:
        widget.next_instant(PUBLISHED)

    assert refused.value.message == (
        "The newest version of a/b, 2.0.0, is dated "
        f"{iso(PUBLISHED + 400 * DAY)}, and the server's clock says {iso(PUBLISHED)}. Nothing was "
        "published. The operator of this catalog must correct the clock; or, if the date is "
        "wrong, run: widget-catalog version redate a/b"
    )


def test_versions_from_the_future_are_redated_to_now_in_their_order() -> None:
    widget = a_widget(
        "a/b",
        a_version("1.0.0", published_at=PUBLISHED - DAY),
        a_version("3.0.0", published_at=PUBLISHED + 300 * DAY),
        a_version("2.0.0", published_at=PUBLISHED + 400 * DAY),
    )

    redated = widget.redated(PUBLISHED)

    assert [(it.number, it.published_at) for it in redated.versions] == [
        ("2.0.0", PUBLISHED),
        ("3.0.0", PUBLISHED - timedelta(milliseconds=1)),
        ("1.0.0", PUBLISHED - DAY),
    ]
    assert redated.redated(PUBLISHED) == redated


def test_a_version_has_the_details_of_its_manifest_unless_it_states_them() -> None:
    manifest = '{"keywords": ["clock", "Not one", "time-zone"]}'

    assert a_version("1.0.0", manifest=manifest).keywords == ("clock", "time-zone")
    assert a_version("1.0.0", manifest=manifest, keywords=("dial",)).keywords == ("dial",)
    assert a_version("1.0.0").keywords == ()
