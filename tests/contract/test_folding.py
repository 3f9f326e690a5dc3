"""Texts are folded by one rule: idempotent, and the same with every spelling of a text."""

import re
import sys
from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_contract.texts import fold

ODD = [
    "a", "é", "e\u0301", "\u0301", "\u0345", "\u034f", "\u0327", "¨", "\ufdfa", "İ", "ı", "ẞ", "ς",
    "Ά",    "が", "か", "\u3099", "ｶ", "ﾞ", "한", "ᄒ", "ᅡ", "ᆫ", "й", "ᾳ", "ǰ", "ŉ", "\u212a",
    "Å", "ᏸ", "Ᏸ",    "\u05b8", "\u0338", "=", "\u093c", "क", " ", "\u3000", "\ufe4a", "\U0001d15e",
]  # fmt: skip
texts = st.text() | st.lists(st.sampled_from(ODD)).map("".join)


def by_the_rule(text: str) -> str:
    without_marks = re.sub("[\u0300-\u036f]", "", normalize("NFKD", text))
    return normalize("NFKC", without_marks).casefold()


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts)
def test_the_shortcuts_give_what_the_rule_gives(text: str) -> None:
    assert fold(text) == by_the_rule(text)


@pytest.mark.slow
def test_every_character_is_folded_by_the_rule_and_once() -> None:
    characters = [it for it in map(chr, range(sys.maxunicode + 1)) if category(it) != "Cs"]
    assert [it for it in characters if fold(it) != by_the_rule(it)] == []
    assert [it for it in characters if fold(fold(it)) != fold(it)] == []


@given(texts)
def test_composed_decomposed_and_lower_case_texts_are_equal(text: str) -> None:
    forms = [normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert {fold(it) for it in forms} == {fold(text)}
