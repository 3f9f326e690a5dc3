"""The query string of a search: every text is parsed or rejected with a message."""

from urllib.parse import quote, quote_plus

from hypothesis import example, given
from hypothesis import strategies as st

from widget_catalog.catalog.api.query import parse_search
from widget_catalog.core.errors import InvalidQuery
from widget_contract.names import is_name
from widget_contract.texts import fold

characters = st.characters(exclude_categories=["Cs"])


@given(st.text(characters, max_size=256))
def test_any_text_comes_through_percent_encoding(text: str) -> None:
    for encode in (quote, quote_plus, lambda it: quote(it, safe=""), _every_byte):
        wanted = parse_search(f"q={encode(text)}&scope={encode(text)}")

        assert wanted.query.text == fold(text.strip())
        assert wanted.query.scope == (text if is_name(text) else "-")


def _every_byte(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


@given(st.text(max_size=80) | st.text("qpagelimtcoSdkf=&%+0129.", max_size=80))
@example("q=%")
@example("page=%30")
@example("limit=" + "9" * 10_000)
def test_any_query_string_is_understood_or_refused(query_string: str) -> None:
    try:
        wanted = parse_search(query_string)
    except InvalidQuery as refused:
        sentence = refused.message
    else:
        sentence = "."
        assert 1 <= wanted.limit <= 100
        assert wanted.page.isascii()
        assert wanted.page.isdecimal()
        assert wanted.page[0] != "0"

    assert sentence.endswith(".")


@given(st.integers(1, 10**40), st.integers(0, 3))
def test_whole_numbers_are_read_with_any_leading_zeros(number: int, zeros: int) -> None:
    text = "0" * zeros + str(number)

    wanted = parse_search(f"page={text}&limit={text}")

    assert wanted.page == str(number)
    assert wanted.limit == min(number, 100)
