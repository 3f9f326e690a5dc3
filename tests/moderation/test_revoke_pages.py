"""The forms of a version's page where operators revoke it."""

from support.browsing import Browsing, browser_of
from support.site_with_people import People

VERSION = "/account/widgets/acme/clock/versions/1.0.0"


def section_ids(browsing: Browsing) -> set[str | None]:
    return {it.attributes["aria-labelledby"] for it in browsing.page.all("section")}


def test_operators_revoke_and_take_it_back(people: People) -> None:
    olly, ann = browser_of(people.olly), browser_of(people.ann)
    ann.get(VERSION)
    assert "revoke" not in section_ids(ann)
    olly.get(VERSION)

    olly.submit(f"{VERSION}/revoke", reason="Steals passwords.")

    assert people.site.get("/cdn/@acme/clock/1.0.0/index.js").status == 410
    assert "same bundle" not in ann.get(VERSION).body.decode()
    widget = "/widgets/acme/clock"
    for page in (widget, f"{widget}/versions", f"{widget}/1.0.0", "/preview/acme/clock/1.0.0"):
        ann.get(page)
        shown = ann.page.one("main").text
        assert ("Revoked" in shown, "Steals passwords." in shown) == (True, True), page
        wrong = ("Yanked", "This version was yanked", "Install")
        assert [it for it in wrong if it in shown] == [], page
    ann.get(VERSION)
    assert "Steals passwords." in ann.page.one("div", class_="notice").text
    ann.get("/account")
    told = "acme/clock 1.0.0 was revoked by the operator: Steals passwords."
    assert ann.page.one("p", class_="notice bad").text == told
    olly.get(VERSION)
    assert "These have the same bundle and are not revoked: ann/clock 1.0.0" in (
        olly.page.one("div", class_="notice").text
    )
    olly.submit(f"{VERSION}/unrevoke")
    assert people.site.get("/cdn/@acme/clock/1.0.0/index.js").status == 200


def test_operators_revoke_a_bundle_everywhere_after_they_have_seen_what_that_hits(
    people: People,
) -> None:
    olly, form = browser_of(people.olly), f"{VERSION}/revoke-everywhere"
    olly.get(VERSION)
    shown = " ".join(olly.page.one("main").text.split())
    assert "This also revokes: ann/clock 1.0.0" in shown
    assert people.eve.publish("eve/copy", "1.0.0").status == 200

    late = olly.submit(form, reason="Steals passwords.", sameBundle="ann/clock 1.0.0")

    assert late.status == 409
    assert olly.errors == [
        "This also revokes ann/clock 1.0.0, eve/copy 1.0.0. Check that, and confirm it."
    ]
    others = olly.page.one("input", name="sameBundle").attributes["value"]
    assert others == "ann/clock 1.0.0,eve/copy 1.0.0"
    assert people.site.get("/cdn/@acme/clock/1.0.0/index.js").status == 200
    olly.submit(form, reason="Steals passwords.", sameBundle=others)
    for key in ("acme/clock", "ann/clock", "eve/copy"):
        assert people.site.get(f"/cdn/@{key}/1.0.0/index.js").status == 410
    olly.get(VERSION)
    assert "Its bytes are revoked everywhere" in olly.page.one("div", class_="notice").text
    assert "Revoke everywhere" not in olly.page.one("main").text
