"""Two operators edit the brand or a legal page at once: nothing typed is lost or undone."""

import base64
from collections.abc import Callable

import msgspec
import pytest

from brand.test_brand import API, HERE, LOGO, fault
from support.browsing import browser_of
from support.site_with_people import People
from widget_catalog.brand import managing
from widget_catalog.brand.store import Settings
from widget_catalog.core.actors import Actor
from widget_catalog.core.db.engine import Store


def test_a_form_does_not_undo_what_another_operator_has_changed_meanwhile(people: People) -> None:
    people.olly.put(API, {"name": "Kitchen", "announcement": "Hello"})
    first, second = browser_of(people.olly), browser_of(people.olly)
    for one in (first, second):
        one.get(HERE)
    assert first.submit(HERE, name="Kitchen", announcement="We move", do="save").status == 303

    # Neither an error nor a preview means that the person has seen the change.
    typed = {"name": "Cooking", "announcement": "Hello"}
    assert second.submit(HERE, **typed, accentLight="red", do="save").status == 409
    second.get(HERE)
    assert first.submit_files(HERE, {"logo": LOGO}, name="Kitchen", do="save").status == 409
    first.get(HERE)
    assert first.submit_files(HERE, {"logo": LOGO}, name="Kitchen", do="save").status == 303
    assert second.submit(HERE, **typed, accentLight="red", do="preview").status == 400
    assert second.submit(HERE, **typed, do="preview").status == 200
    assert second.submit(HERE, **typed, do="save").status == 409
    assert "Somebody else has changed the brand meanwhile" in second.errors[0]
    assert second.page.one("input", id="brand-name").attributes["value"] == "Cooking"
    stored = people.olly.get(API).json()
    assert (stored["name"], stored["announcement"]) == ("Kitchen", "")

    assert second.submit(HERE, **typed, do="save").status == 303
    stored = people.olly.get(API).json()
    assert (stored["name"], stored["announcement"]) == ("Cooking", "Hello")
    assert base64.b64decode(stored["logo"]).startswith(b"<svg")


def test_a_chosen_logo_that_was_replaced_meanwhile_is_asked_for_again(people: People) -> None:
    first, second = browser_of(people.olly), browser_of(people.olly)
    for one in (first, second):
        one.get(HERE)
    assert first.submit_files(HERE, {"logo": LOGO}, name="Kitchen", do="preview").status == 200
    assert second.submit(HERE, name="Cooking", do="save").status == 303

    assert first.submit(HERE, name="Kitchen", do="save").status == 400
    assert "Choose the file again" in fault(first, "logo")
    assert first.submit_files(HERE, {"logo": LOGO}, name="Kitchen", do="save").status == 409
    assert first.submit(HERE, name="Kitchen", do="save").status == 303
    stored = people.olly.get(API).json()
    assert (stored["name"], base64.b64decode(stored["logo"])[:4]) == ("Kitchen", b"<svg")


def test_what_was_typed_is_kept_when_the_logo_cannot_be(people: People) -> None:
    olly = browser_of(people.olly)
    olly.get(HERE)
    uploads = people.site.settings.data / "uploads"
    uploads.rename(uploads.with_name("aside"))
    response = olly.submit_files(HERE, {"logo": LOGO}, name="Kitchen", do="save")
    uploads.with_name("aside").rename(uploads)

    assert (response.status, response.headers["retry-after"]) == (503, "5")
    assert olly.page.one("input", id="brand-name").attributes["value"] == "Kitchen"
    assert people.olly.get(API).json()["name"] == ""


def test_a_brand_that_changes_while_it_is_saved_is_not_undone(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    olly = browser_of(people.olly)
    olly.get(HERE)
    save = managing.save_brand

    def save_later(store: Store, actor: Actor, change: Callable[[Settings], Settings]) -> Settings:
        save(store, actor, lambda old: msgspec.structs.replace(old, announcement="We move"))
        return save(store, actor, change)

    with monkeypatch.context() as patch:
        patch.setattr(managing, "save_brand", save_later)
        assert olly.submit(HERE, name="Kitchen", do="save").status == 409
    assert people.olly.get(API).json()["announcement"] == "We move"


def test_the_text_of_a_legal_page_that_was_deleted_meanwhile_is_kept(people: People) -> None:
    place = f"{HERE}/pages/imprint"
    people.olly.put(f"{API}/pages/imprint", {"title": "Imprint", "text": "Acme"})
    olly = browser_of(people.olly)
    olly.get(place)
    people.olly.delete(f"{API}/pages/imprint")

    assert olly.submit(place, title="Imprint", text="Acme Ltd", do="save").status == 409

    assert "has deleted this page meanwhile" in fault(olly, "title", "page")
    shown = {it: olly.page.one("input", id=f"page-{it}").attributes for it in ("title", "slug")}
    typed = {it: str(attributes["value"]) for it, attributes in shown.items()}
    typed["text"] = olly.page.one("textarea", id="page-text").text.strip()
    assert typed == {"title": "Imprint", "slug": "imprint", "text": "Acme Ltd"}
    assert olly.submit(f"{HERE}/page", **typed, do="save").status == 303
    assert people.olly.get(f"{API}/pages/imprint").json()["text"] == "Acme Ltd"


def test_a_legal_page_is_not_undone_either(people: People) -> None:
    place = f"{HERE}/pages/imprint"
    people.olly.put(f"{API}/pages/imprint", {"title": "Imprint", "text": "Acme"})
    first, second = browser_of(people.olly), browser_of(people.olly)
    for one in (first, second):
        one.get(place)
    assert first.submit(place, title="Imprint", text="Acme Ltd", do="save").status == 303
    assert second.submit(place, title="", text="Acme", do="save").status == 400
    assert second.submit(place, title="About", text="Acme", do="preview").status == 200

    assert second.submit(place, title="About", text="Acme", do="save").status == 409

    assert "Somebody else has changed this page" in fault(second, "title", "page")
    assert people.olly.get(f"{API}/pages/imprint").json()["text"] == "Acme Ltd"
    assert second.submit(place, title="About", text="Acme Ltd", do="save").status == 303
    assert people.olly.get(f"{API}/pages/imprint").json()["title"] == "About"
