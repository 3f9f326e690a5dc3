"""Which characters external text may contain, and its maximum length."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_contract.texts import (
    clean_line,
    clean_name,
    clean_text,
    line_error,
    name_error,
    text_error,
)

ANYTHING = st.text(st.characters())  # Including lone surrogates.
DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
CONTROL = [chr(it) for it in (*range(0x20), *range(0x7F, 0xA0))]
UNWANTED = [*CONTROL, *DIRECTION, *"\u2028\u2029\ufeff", chr(0xD800), chr(0xDFFF)]
EMPTY = "must not be empty."
HIDDEN = [
    chr(codepoint)
    for first, last in (
        (0x2061, 0x2065), (0x206A, 0x206F), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3),
        (0x1D173, 0x1D17A), (0xE0000, 0xE00FF), (0xE01F0, 0xE0FFF),
    )
    for codepoint in (first, (first + last) // 2, last)
]  # fmt: skip
# Default_Ignorable_Code_Point, from DerivedCoreProperties.txt of Unicode 16.
DEFAULT_IGNORABLE = [
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
]  # fmt: skip
INVISIBLE = [chr(it) for first, last in DEFAULT_IGNORABLE for it in range(first, last + 1)]
TRICKY = st.text(
    st.sampled_from([
        *"aé1# \n\t", "\u200d", "\u200c", "\u200b", "\u2060", "\xad", "\ufe0e", "\ufe0f", "\u20e3",
        "\U000e0100", "\U000e0067", "\u180b", "\u1820", "\u094d", "\u0915", "\u06cc", "\u0301",
        "👩", "❤", "🏽", "\u202e", "\x1b", "\x85", "\u2028",
    ]),
    max_size=12,
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["Clock", "Zeit 🕰", "時計", "ساعة", "a", "1", "-", "👩‍👩‍👧", "e\u0301", "x" * 20, "हिन्दी"],
)
def test_what_people_write_is_taken(text: str) -> None:
    assert line_error(text, 20) is None
    assert text_error(text, 20) is None


def test_what_nobody_can_see_is_empty() -> None:
    """Otherwise a widget could have no visible name, or appear to have another's."""
    cases = [
        "", " ", "\t", "\n", "\xa0", "\u200b", "\u200d\u200c", "\u2060", "\ufeff", "\u3000",
        "\xad", "\u200e", "\0", "\ud800", "\U000e0020", "\u2028", "\ue000", "\u3164",
        "\u115f\u1160", "\uffa0", "\u2800", "\u034f", "\ufe0f", "\u17b4", "\u180e",
    ]  # fmt: skip
    for text in cases:
        for error_of in (name_error, line_error):
            assert error_of(text, 20) == EMPTY
            assert error_of(text * 3 + " ", 20) == EMPTY


def test_what_hides_or_reorders_a_line_is_refused_and_named() -> None:
    for char in UNWANTED:
        for text in (f"a{char}b", f"{char}a", f"a{char}"):
            assert line_error(text, 20) == (
                f"contains the character U+{ord(char):04X}; control characters, invisible "
                "characters and marks that change the direction of writing are not allowed."
            )
            assert name_error(text, 20) == line_error(text, 20)


def test_hidden_characters_of_no_use_are_refused_in_every_text() -> None:
    for char in HIDDEN:
        for error_of in (name_error, line_error, text_error):
            error = error_of(f"a{char}b", 20)
            assert error is not None
            assert f"U+{ord(char):04X}" in error


def test_no_invisible_character_is_allowed_in_a_name() -> None:
    for char in [*INVISIBLE, "\u2800"]:
        for text in (
            f"Clo{char}ck",
            f"Clock{char}",
            f"{char}Clock",
            f"時{char}計",
            f"Clock {char}",
        ):
            error = name_error(text, 20)
            assert error is not None, ascii(text)
            assert f"U+{ord(char):04X}" in error


def test_joiners_and_selectors_that_are_part_of_the_writing_are_allowed_in_a_name() -> None:
    cases = [
        "👩‍👩‍👧", "❤️‍🔥", "👩🏽‍🚀", "🏳️‍🌈", "🙂‍↔️", "1️⃣", "#️⃣", "☁️ Weather", "☎︎", "می‌خواهم",
        "کار‌ها", "क्‍ष", "ক্‌ষ", "র‍্যাম", "ശ്രീ ന്‍", "ශ්‍රී", "ᠠᠨ᠋ᠠ",
    ]  # fmt: skip
    for text in cases:
        assert name_error(text, 40) is None
        assert clean_name(text) == text


@pytest.mark.parametrize(
    "text",
    ["a\u200db", "👩\u200d", "\u200d👩", "👩\u200d\u200d👩", "a\ufe0f", "1\ufe0f", "👩\ufe0f\ufe0f",
     "a\ufe0f\u200d👩", "a\u200cb", "ی\u200c", "ی\u200c ", "क\u200cख", "葛\U000e0100", "a\u180b",
     "🏴\U000e0067\U000e007f", "क्\u200d\u200d"],
)  # fmt: skip
def test_joiners_and_selectors_elsewhere_are_refused_in_a_name(text: str) -> None:
    assert name_error(text, 40) is not None


def test_running_text_may_say_where_its_lines_break_but_carries_no_hidden_data() -> None:
    for text in ("Donau\xaddampf", "ไทย\u200bไทย", "a\u2060b", "葛\U000e0100城", "می‌خواهم", "☁️"):
        assert line_error(text, 40) is None
        assert text_error(text, 40) is None
    for text in ("👩\ufe00\ufe01", "a\U000e0100\U000e0101", "a\U000e0068\U000e0069"):
        assert line_error(text, 40) is not None
        assert text_error(text, 40) is not None


def test_cleaning_removes_what_is_refused_and_keeps_words_apart() -> None:
    assert clean_name("World\r\n\u202eClo\u200bck\U000e0041\t2") == "World Clock 2"
    assert clean_line("World\u2028\x1bClo\xadck") == "World Clo\xadck"
    assert clean_text("a\r\n\tb\x00\u202e\u2028c") == "a\r\n\tb\u2028c"


@given(ANYTHING | TRICKY)
def test_a_cleaned_text_has_no_error_but_being_empty_and_stays_as_it_is(text: str) -> None:
    for clean, error_of in (
        (clean_name, name_error),
        (clean_line, line_error),
        (clean_text, text_error),
    ):
        cleaned = clean(text)
        assert error_of(cleaned, 1000) in (None, EMPTY)
        assert clean(cleaned) == cleaned
        if error_of(text, 1000) is None:
            assert cleaned == text


@given(ANYTHING | TRICKY)
def test_what_is_taken_as_a_name_is_taken_as_a_line(text: str) -> None:
    if name_error(text, 1000) is None:
        assert line_error(text, 1000) is None


def test_several_lines_may_have_lines_and_tabs_and_no_other_control_characters() -> None:
    assert text_error("# A\r\n\n\t- b\u2028c", 20) is None
    assert text_error("", 20) is None
    for char in {*CONTROL, *DIRECTION, "\ufeff", "\udc00"} - set("\t\r\n"):
        error = text_error(f"a{char}", 20)
        assert error is not None
        assert f"U+{ord(char):04X}" in error


def test_the_error_about_a_long_text_states_both_lengths() -> None:
    for error_of in (name_error, line_error, text_error):
        assert error_of("x" * 1000, 1000) is None
        assert error_of("x" * 1001, 1000) == (
            "is too long: 1,001 characters, and at most 1,000 are taken."
        )


def test_ten_million_characters_are_refused_in_no_time() -> None:
    for text in ("x" * 10_000_000, " " * 10_000_000, "\0" * 10_000_000):
        assert line_error(text, 100) is not None
        assert text_error(text, 100) is not None


@given(ANYTHING)
def test_what_is_taken_can_be_stored_and_shown_anywhere(text: str) -> None:
    if line_error(text, 1000) is None:
        text.encode()
        assert not any(unicodedata.category(it) in ("Cc", "Cs", "Zl", "Zp") for it in text)
        assert text.strip()
        assert text_error(text, 1000) is None
        assert text.splitlines() == [text]


@given(ANYTHING, st.integers(1, 50))
def test_no_text_is_a_error_of_ours(text: str, most: int) -> None:
    for error_of in (name_error, line_error, text_error):
        error = error_of(text, most)
        assert error is None or (error.endswith(".") and error.isascii())
        if error is None:
            assert len(text) <= most
