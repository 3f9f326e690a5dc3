"""What all pages have in common: targets of links and redirects."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup, escape

from widget_catalog.brand.store import LegalPage
from widget_catalog.core.features import list_contributions
from widget_catalog.core.http import rendering
from widget_catalog.core.http.branding import Brand
from widget_catalog.core.http.page_templates import escape_output
from widget_catalog.core.http.rendering import Frame, PageRenderer, local_path
from widget_catalog.core.http.sent_form import NOT_SENT
from widget_catalog.core.languages.language import ENGLISH, find_language

UNDER_A_PATH = PageRenderer("Widgets", "https://host.example/catalog", list_contributions())


def test_links_begin_with_the_path_the_service_is_reached_under() -> None:
    page = UNDER_A_PATH.render(
        "accounts/sign_in.html",
        next="",
        username="",
        sent=NOT_SENT,
        can_register=True,
        has_passkeys=True,
        asks_code=True,
        provider="Example",
    ).decode()

    for place in (
        "/sign-in",
        "/sign-in/passkey",
        "/join",
        "/api/auth/oidc",
        "/static/people.",
        "/favicon.svg",
    ):
        assert f'"/catalog{place}' in page
    assert page.count('="/') == page.count('="/catalog')


def test_redirects_do_too() -> None:
    assert ("location", "/catalog/account") in UNDER_A_PATH.redirect("/account").headers
    sent = UNDER_A_PATH.sign_in_first("/device?user_code=A")
    location = "/catalog/sign-in?next=%2Fdevice%3Fuser_code%3DA"
    assert (sent.status, sent.headers[0]) == (302, ("location", location))


def test_the_frame_of_a_public_page_follows_the_brand() -> None:
    renderer = PageRenderer("Widgets", "https://host.example", list_contributions())

    def title_and_footer() -> tuple[bool, bool]:
        values = {"title": "Moved", "sentence": "It is elsewhere."}
        page = renderer.render_public("message.html", ENGLISH, (), **values).decode()
        assert "Moved" in page
        return ">Acme<" in page, ">Imprint<" in page

    assert title_and_footer() == (False, False)
    renderer.show_brand(Brand(name="Acme", pages=(("/legal/imprint", "Imprint"),)))
    assert title_and_footer() == (True, True)


def test_a_page_has_its_own_title_wherever_its_frame_shows_it() -> None:
    renderer = PageRenderer("Widgets", "https://host.example", list_contributions())
    renderer.templates.globals["site_picture_url"] = str
    languages = [it for it in (ENGLISH, find_language("de")) if it is not None]
    for title, path in (("<京>", "/legal/a"), ("Imprint", ""), ("Terms", "/legal/b")):
        values = {"page": LegalPage("a", title, ""), "html": "", "page_path": path}
        page = renderer.render_public("brand/public/legal.html", ENGLISH, languages, **values)
        text, shown = page.decode(), escape(title)
        assert text.count(f"{shown} · Widgets") == 3
        assert text.count(f'content="{shown}: a page of the operator of Widgets.') == 2
        assert text.count("hreflang=") == (3 if path else 0)


def test_a_frame_that_was_made_before_the_brand_changed_is_not_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    renderer = PageRenderer("Widgets", "https://host.example", list_contributions())

    class FrameBeforeAChange(Frame):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            assert self.top
            renderer.show_brand(Brand(name="Acme"))

    def is_of_acme() -> bool:
        values = {"title": "Moved", "sentence": "It is elsewhere."}
        return b">Acme</span>" in renderer.render_public("message.html", ENGLISH, (), **values)

    with monkeypatch.context() as patch:
        patch.setattr(rendering, "Frame", FrameBeforeAChange)
        assert not is_of_acme()
    assert is_of_acme()


@pytest.mark.parametrize("text", ["/", "/a", "/a?b=c&d=%2F#e", "/a//b"])
def test_a_path_of_ours_is_local(text: str) -> None:
    assert local_path(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "a", "//a", "///a", "/\\a", "\\/a", "http://a", "//a/..", "/\ta", "/a\n", "/\x7f", "/é",
     "/\u2028", " /a", "/" * 2 + "a", "/" + "a" * 8192],
)  # fmt: skip
def test_anything_that_might_lead_elsewhere_is_not(text: str) -> None:
    assert local_path(text) is None


@given(st.text() | st.text("<>&\"' a") | st.text().map(Markup) | st.integers() | st.none())
def test_output_is_escaped_as_markupsafe_does(value: object) -> None:
    assert str(escape_output(value)) == str(escape(value))


def test_templates_escape_what_they_output_but_not_what_is_marked_as_safe() -> None:
    shown: dict[str, Any] = {"title": "<b>", "sentence": Markup("<i>safe</i>")}

    page = UNDER_A_PATH.render("message.html", **shown).decode()

    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "<i>safe</i>" in page
