"""Scope and WidgetName."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_contract.errors import CatalogError, InvalidName
from widget_contract.names import Scope, WidgetName, is_name


@pytest.mark.parametrize(
    "text", ["a", "0", "acme", "a-b", "a--b", "a-", "0-0", "clock2", "a" * 64, "a" + "-" * 63]
)
def test_a_name_is_small_letters_digits_and_hyphens_and_stays_as_it_is(text: str) -> None:
    assert Scope.parse(text) == text
    assert WidgetName.parse(text) == text
    assert is_name(text)


def test_any_other_text_is_refused_with_a_sentence() -> None:
    cases = [
        "", "-", "-a", "A", "aB", "a_b", "a.b", "a b", " a", "a ", "a\n", "\na", "a\0", "@a",
        "a/b", "é", "ａ", "١", "²", "ß", "a\u0301", "a" * 65, "a" * 10_000,
    ]  # fmt: skip
    for text in cases:
        for kind, what in ((Scope, "scope"), (WidgetName, "widget name")):
            with pytest.raises(InvalidName) as refused:
                kind.parse(text)
            assert refused.value.message == (
                f"{text[:80]!r} is not a {what}: use 1 to 64 lowercase letters, digits and "
                "hyphens, beginning with a letter or digit."
            )
            assert isinstance(refused.value, CatalogError)
        assert not is_name(text)


@given(st.text(max_size=70) | st.text("az09-A_", max_size=70))
def test_the_rule_is_the_pattern_and_64_characters(text: str) -> None:
    wanted = re.fullmatch(r"[a-z0-9][a-z0-9-]*", text, re.ASCII) is not None and len(text) <= 64

    assert is_name(text) == wanted
    if wanted:
        assert Scope.parse(text) == text
        assert WidgetName.parse(text) == text


def test_a_name_is_a_text_of_its_own_type() -> None:
    assert type(Scope.parse("acme")) is Scope
    assert type(WidgetName.parse("acme")) is WidgetName
    assert {Scope.parse("acme"): 1}["acme"] == 1  # type: ignore[index]
