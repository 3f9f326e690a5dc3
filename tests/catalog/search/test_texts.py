"""Many sorted texts as flat arrays."""

from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.catalog.search.texts import Texts

# With few letters, many texts begin in the same way; with 300, they fill several blocks.
_TEXTS = st.lists(st.text("abü京", max_size=5), unique=True, max_size=300)


@given(_TEXTS, st.text("abü京", max_size=3))
def test_texts_that_start_with_a_prefix_are_a_range(some: list[str], prefix: str) -> None:
    ordered = sorted(some)
    first, last = Texts.of(ordered).starting_with(prefix.encode())
    assert ordered[first:last] == [it for it in ordered if it.startswith(prefix)]
    assert ordered[:first] == [it for it in ordered if it < prefix]


def test_a_range_may_be_longer_than_a_block() -> None:
    texts = Texts.of([f"a{number:03}" for number in range(200)] + ["b"])
    assert texts.starting_with(b"a") == (0, 200)
    assert texts.starting_with(b"a03") == (30, 40)
    assert texts.starting_with(b"a1") == (100, 200)
    assert texts.starting_with(b"b") == (200, 201)
    assert texts.starting_with(b"c") == (201, 201)
