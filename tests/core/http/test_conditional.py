"""Content negotiation, 304 and ranges, according to the specification."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from widget_catalog.core.http.accept import choose_encoding
from widget_catalog.core.http.conditional import (
    choose_range,
    http_date,
    is_known,
)

OURS = ("zstd", "br", "gzip")
NAMES = [*OURS, "identity", "*", "deflate", "x-gzip", "compress"]

blanks = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def preferences(draw: st.DrawFn) -> tuple[str, dict[str, float]]:
    """An Accept-Encoding header, and its weight for each name."""
    weights: dict[str, float] = {}
    parts = []
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=6)):
        weight = draw(st.none() | st.integers(0, 1000))
        weights.setdefault(name, 1.0 if weight is None else weight / 1000)
        written = draw(st.sampled_from([name, name.upper(), name.capitalize()]))
        if weight is not None:
            q = draw(st.sampled_from(["q", "Q"]))
            number = draw(st.sampled_from([f"{weight / 1000:.3f}", f"{weight / 1000:g}"]))
            written += f"{draw(blanks)};{draw(blanks)}{q}={number}"
        parts.append(draw(blanks) + written + draw(blanks))
    return ",".join(parts), weights


@given(preferences())
def test_the_encoding_with_the_highest_weight_is_chosen_and_ours_in_our_order(
    preference: tuple[str, dict[str, float]],
) -> None:
    header, weights = preference
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    ours = {it: weights.get(it, weights.get("*", 0.0)) for it in OURS}
    highest = max(ours.values())
    # Uncompressed bytes are sent if nothing else is accepted, or if they are preferred.
    is_plain = highest == 0 or weights.get("identity", 0.0) > highest
    wanted = None if is_plain else next(it for it in OURS if ours[it] == highest)

    assert choose_encoding(header) == wanted
    assert choose_encoding(header) == wanted  # From the cache, and the same.


@given(st.text(max_size=60) | st.text("gzipbrstd*;,=q01. -", max_size=60))
@example("gzip;q=nan, br;q=inf")
@example("gzip;q=1e999")
@example("identity;q=nan, gzip")
@example(",,,;;;===")
def test_no_header_is_an_error_and_nothing_unasked_is_chosen(header: str) -> None:
    chosen = choose_encoding(header)

    assert chosen is None or chosen in header.lower() or "*" in header


def test_encodings_by_example() -> None:
    cases = [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=0.000", None),
        ("gzip;q=0, *", "zstd"),
        ("zstd;q=0, *", "br"),
        ("*;q=0", None),
        ("*;q=0, gzip", "gzip"),
        ("identity, gzip", "gzip"),
        ("identity;q=1, gzip;q=0.9", None),
        ("identity;q=0", None),
        ("identity;q=0, gzip;q=0.1", "gzip"),
        ("zstd;q=0.1, br;q=0.2, gzip;q=0.3", "gzip"),
        ("gzip;q=high", None),
        ("brotli", None),
        ("gzipped", None),
        ("", None),
    ]
    for header, chosen in cases:
        assert choose_encoding(header) == chosen


def test_remembering_choices_has_an_end() -> None:
    for i in range(3000):
        assert choose_encoding(f"x{i}, gzip") == "gzip"
    assert choose_encoding("x" * 100_000 + ", br") == "br"


tags = st.text("abc0-", max_size=3).map('"{}"'.format)


def matches(header: str, etag: str) -> bool:
    return is_known({"if-none-match": header}, etag)


@given(st.lists(st.tuples(tags, st.booleans(), blanks), max_size=5), tags)
def test_an_etag_matches_where_it_is_listed_weak_or_strong(
    listed: list[tuple[str, bool, str]], etag: str
) -> None:
    header = ",".join(f"{blank}{'W/' if is_weak else ''}{tag}" for tag, is_weak, blank in listed)

    assert matches(header, etag) == (etag in [tag for tag, _, _ in listed])
    assert matches(f"{header},*" if header else "*", etag)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "abc",
        'x"abc"',
        '"abc"x',
        '""abc""',
        "W/abc",
        '"abcd"',
        '"*"',
        "**",
        'w/"abc"',
        '"a,*,b"',
    ],
)
def test_what_is_not_the_etag_does_not_match(header: str) -> None:
    assert not matches(header, '"abc"')


@given(st.integers(0, 30), st.none() | st.integers(0, 40), st.none() | st.integers(0, 40))
def test_a_range_is_those_bytes_or_all_or_unsatisfiable(
    size: int, first: int | None, last: int | None
) -> None:
    header = f"bytes={'' if first is None else first}-{'' if last is None else last}"
    everything = range(size)
    if first is None and last is None:
        wanted: range | None = None
    elif first is None:
        wanted = everything[-last:] if last else range(0)
    elif last is None:
        wanted = everything[first:]
    else:
        wanted = None if last < first else everything[first : last + 1]

    if wanted is None:
        assert choose_range(header, size) is None
    elif wanted:
        assert choose_range(header, size) == (wanted.start, wanted.stop)
    else:
        with pytest.raises(ValueError, match=header):
            choose_range(header, size)


@given(st.text(max_size=30) | st.text("bytes=-0123456789, ", max_size=60), st.integers(0, 99))
def test_no_range_header_is_worse_than_unsatisfiable(header: str, size: int) -> None:
    try:
        chosen = choose_range(header, size)
    except ValueError:
        chosen = None

    assert chosen is None or 0 <= chosen[0] < chosen[1] <= size


def test_a_date_is_written_as_http_wants_it() -> None:
    assert http_date(1_769_850_300_999) == "Sat, 31 Jan 2026 09:05:00 GMT"
