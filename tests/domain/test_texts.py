"""Which characters a text from outside may hold, and how long it may be."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.domain.texts import line_fault, text_fault

ANYTHING = st.text(st.characters())  # Half surrogates too.
DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROL = [chr(it) for it in (*range(0x20), *range(0x7F, 0xA0))]
UNWANTED = [*CONTROL, *DIRECTION, *"\u2028\u2029\ufeff", chr(0xD800), chr(0xDFFF)]
EMPTY = "must not be empty."


@pytest.mark.parametrize(
    "text",
    ["Clock", "Zeit 🕰", "時計", "ساعة", "a", "1", "-", "👩‍👩‍👧", "e\u0301", "x" * 20, "हिन्दी"],
)
def test_what_people_write_is_taken(text: str) -> None:
    assert line_fault(text, 20) is None
    assert text_fault(text, 20) is None


@pytest.mark.parametrize(
    "text",
    ["", " ", "\t", "\n", "\xa0", "\u200b", "\u200d\u200c", "\u2060", "\ufeff", "\u3000", "\xad",
     "\u200e", "\0", "\ud800", "\U000e0020", "\u2028", "\ue000",
     "\u3164", "\u115f\u1160", "\uffa0", "\u2800", "\u034f", "\ufe0f", "\u17b4", "\u180e"],
)  # fmt: skip
def test_what_nobody_can_see_is_empty(text: str) -> None:
    """Else a widget could have no name at all, or seem to have another's."""
    assert line_fault(text, 20) == EMPTY
    assert line_fault(text * 3 + " ", 20) == EMPTY


@pytest.mark.parametrize("char", UNWANTED, ids=ascii)
def test_what_hides_or_reorders_a_line_is_refused_and_named(char: str) -> None:
    for text in (f"a{char}b", f"{char}a", f"a{char}"):
        assert line_fault(text, 20) == (
            f"holds the character U+{ord(char):04X}; control characters and marks that change the "
            "direction of writing are not taken."
        )


def test_several_lines_may_have_lines_and_tabs_and_no_other_control_characters() -> None:
    assert text_fault("# A\r\n\n\t- b\u2028c", 20) is None
    assert text_fault("", 20) is None
    for char in {*CONTROL, *DIRECTION, "\ufeff", "\udc00"} - set("\t\r\n"):
        fault = text_fault(f"a{char}", 20)
        assert fault is not None
        assert f"U+{ord(char):04X}" in fault


def test_a_text_that_is_too_long_is_told_how_long_it_is_and_may_be() -> None:
    for fault_of in (line_fault, text_fault):
        assert fault_of("x" * 1000, 1000) is None
        assert fault_of("x" * 1001, 1000) == (
            "is too long: 1,001 characters, and at most 1,000 are taken."
        )


def test_ten_million_characters_are_refused_in_no_time() -> None:
    for text in ("x" * 10_000_000, " " * 10_000_000, "\0" * 10_000_000):
        assert line_fault(text, 100) is not None
        assert text_fault(text, 100) is not None


@given(ANYTHING)
def test_what_is_taken_can_be_stored_and_shown_anywhere(text: str) -> None:
    if line_fault(text, 1000) is None:
        text.encode()
        assert not any(unicodedata.category(it) in ("Cc", "Cs", "Zl", "Zp") for it in text)
        assert text.strip()
        assert text_fault(text, 1000) is None
        assert text.splitlines() == [text]


@given(ANYTHING, st.integers(1, 50))
def test_no_text_is_a_fault_of_ours(text: str, most: int) -> None:
    for fault_of in (line_fault, text_fault):
        fault = fault_of(text, most)
        assert fault is None or (fault.endswith(".") and fault.isascii())
        if fault is None:
            assert len(text) <= most
