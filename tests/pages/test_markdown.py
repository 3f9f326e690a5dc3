"""Texts of authors as HTML."""

from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.pages.markdown import plain_line, render_markdown

WORDS = st.text("aZé语1 .,:;()'!?/+-", max_size=30)


@given(WORDS.map(lambda it: f"a{it}") | st.text('a1 .-_*`[]<&\\~|#=\n\t"', max_size=12))
def test_a_line_of_words_is_the_same_without_a_renderer(text: str) -> None:
    plain = plain_line(text)
    assert plain is None or plain == render_markdown((text, 12_000))


def test_a_usual_note_is_a_line_of_words() -> None:
    assert plain_line("Release 1.2.0: repairs and small comforts.") is not None
