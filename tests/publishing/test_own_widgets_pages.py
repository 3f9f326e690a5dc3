"""The pages where authors manage their widgets and versions."""

from pathlib import Path

import pytest

from support.browsing import PERSONAL, Browsing, browser_of
from support.people import a_person
from support.site import InProcessSite
from support.site_with_people import BuiltPeople, People
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.model.widgets import parse_key
from widget_catalog.catalog.store.downloads import add_installs
from widget_catalog.catalog.store.installs import today_of
from widget_catalog.catalog.store.widgets import get_widget

ACME = "/account/widgets/acme/clock"
VERSION = f"{ACME}/versions/1.0.0"


def detail(people: People, key: str = "acme/clock") -> dict[str, object]:
    response = people.ann.get(f"/api/widgets/{key}")
    assert response.status == 200
    shown: dict[str, object] = response.json()
    return shown


def version_of(people: People) -> dict[str, object]:
    versions = detail(people)["versions"]
    assert isinstance(versions, list)
    found: dict[str, object] = versions[0]
    return found


def section_ids(browsing: Browsing) -> set[str | None]:
    return {it.attributes["aria-labelledby"] for it in browsing.page.all("section")}


def note(browsing: Browsing) -> str:
    return browsing.page.one("p", role="status").text


def test_widgets_of_all_scopes_are_shown_and_of_one(people: People) -> None:
    ann = browser_of(people.ann)
    people.ann.post("/api/widgets/acme/clock/unlist", {"reason": "For now."})

    response = ann.get("/account/widgets")

    assert (response.status, ann.title) == (200, "Your widgets")
    assert PERSONAL.items() <= response.headers.items()
    rows = [it.text for it in ann.page.all("li")]
    assert rows == [
        "Clock unlisted acme/clock 1.0.0 0 installs",
        "Clock ann/clock 1.0.0 0 installs",
    ]
    ann.get("/account/widgets?scope=ann")
    assert [it.text for it in ann.page.all("li")] == ["Clock ann/clock 1.0.0 0 installs"]
    assert browser_of(people.eve).get("/account/widgets?scope=acme").status == 403
    assert ann.get("/account/widgets?page=0").status == 400


def test_someone_without_any_is_shown_how_to_publish(people: People) -> None:
    eve = browser_of(people.eve)
    for address in ("/account", "/account/widgets"):
        eve.get(address)
        assert eve.page.one("h2", id="first").text == "Publish your first widget"
        assert "widget login https://catalog.example" in eve.page.one("main").text
    ann = browser_of(people.ann)
    ann.get("/account")
    assert "first" not in section_ids(ann)


def test_a_version_is_yanked_and_offered_again(people: People) -> None:
    ann = browser_of(people.ann)
    assert ann.get(VERSION).status == 200

    response = ann.submit(f"{VERSION}/yank", reason="Shows <b>nothing</b>.")

    assert (response.status, response.headers["location"]) == (303, f"{VERSION}?done=yank")
    yanked = version_of(people)
    assert (yanked["yanked"], yanked["yankedReason"]) == (True, "Shows <b>nothing</b>.")
    ann.get(f"{VERSION}?done=yank")
    assert note(ann).startswith("The version was yanked")
    assert "Reason: Shows <b>nothing</b>." in ann.page.one("main").text
    assert ann.submit(f"{VERSION}/unyank").headers["location"] == f"{VERSION}?done=unyank"
    assert version_of(people)["yanked"] is False


def test_a_version_is_deprecated_with_another_message_and_not_any_more(people: People) -> None:
    abe = browser_of(people.abe)
    for message in ("Use 2.0.0.", "Use 3.0.0."):
        abe.get(VERSION)
        abe.submit(f"{VERSION}/deprecate", message=message)
        assert version_of(people)["deprecationMessage"] == message
    abe.get(VERSION)
    abe.submit(f"{VERSION}/undeprecate")
    assert version_of(people)["deprecationMessage"] is None


@pytest.mark.parametrize(("form", "field"), [("yank", "reason"), ("deprecate", "message")])
def test_a_error_is_reported_beside_the_form_with_what_was_typed(
    people: People, form: str, field: str
) -> None:
    ann = browser_of(people.ann)
    ann.get(VERSION)
    typed = "much too long " * 50

    response = ann.submit(f"{VERSION}/{form}", **{field: typed})

    assert response.status == 400
    assert len(ann.errors) == 1
    assert ann.page.one("div", role="alert").attributes["id"] == f"faults-{form}-{field}"
    box = ann.page.one("input", id=f"{form}-{field}")
    assert (box.attributes["value"], box.attributes["aria-describedby"]) == (
        typed,
        f"faults-{form}-{field}",
    )
    assert version_of(people)["yanked"] is False


def test_a_widget_is_unlisted_with_a_reason_and_listed_again(people: People) -> None:
    ann = browser_of(people.ann)
    ann.get(ACME)
    ann.submit(f"{ACME}/unlist", reason="")
    assert detail(people)["listed"] is False
    ann.get(f"{ACME}?done=unlist")
    assert note(ann) == "The widget was unlisted. Dashboards that use it keep working."
    ann.submit(f"{ACME}/list")
    assert detail(people)["listed"] is True
    ann.get(ACME)
    ann.submit(f"{ACME}/unlist", reason="Out of season.")
    ann.get(f"{ACME}/audit")
    first = ann.page.all("li")[0].text
    assert first.startswith("unlist acme/clock reason: Out of season.")
    assert first.endswith("by ann from 127.0.0.1")


def test_what_is_over_the_quota_of_changes_is_reported_beside_the_form(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "data", max_changes_per_hour=1) as people:
        ann = browser_of(people.ann)
        ann.get(VERSION)
        ann.submit(f"{VERSION}/yank", reason="Slow.")
        ann.get(ACME)

        response = ann.submit(f"{ACME}/unlist", reason="Out of season.")

        assert response.status == 429
        assert int(response.headers["retry-after"]) > 0
        assert ann.errors[0].startswith("At most 1 changes to widgets can be made in an hour: ")
        assert detail(people)["listed"] is True
        ann.get(VERSION)
        assert ann.submit(f"{VERSION}/deprecate", message="Use 2.0.0.").status == 429
        assert ann.page.one("input", id="deprecate-message").attributes["value"] == "Use 2.0.0."


def test_publishers_are_named_and_outsiders_are_refused(people: People) -> None:
    abe = browser_of(people.abe)
    abe.get(ACME)
    assert abe.page.one("input", name="publishers").attributes["value"] == "pia"

    assert abe.submit(f"{ACME}/publishers", publishers="@mia, pia").status == 303
    assert people.ann.get("/api/widgets/acme/clock/publishers").json()["publishers"] == [
        "mia",
        "pia",
    ]
    abe.get(ACME)
    response = abe.submit(f"{ACME}/publishers", publishers="mia eve")
    assert (response.status, abe.errors) == (400, ["Not a member of acme: eve."])


def test_operators_give_and_take_the_official_mark(people: People) -> None:
    olly = browser_of(people.olly)
    for response, is_official in (("yes", True), ("no", False)):
        olly.get(ACME)
        olly.submit(f"{ACME}/official", official=response)
        shown = detail(people)["widget"]
        assert isinstance(shown, dict)
        assert shown["isOfficial"] is is_official


def test_members_see_a_widget_and_no_form(people: People) -> None:
    mia = browser_of(people.mia)
    for address in (ACME, VERSION):
        assert mia.get(address).status == 200
        assert [it.attributes["action"] for it in mia.page.all("form")] == []


def test_what_does_not_exist_is_not_found(people: People) -> None:
    ann = browser_of(people.ann)
    for address in (f"{ACME}/versions/9.9.9", "/account/widgets/acme/nothing"):
        assert ann.get(address).status == 404


def test_build_metadata_in_the_address_leads_to_the_version(people: People) -> None:
    ann = browser_of(people.ann)
    assert ann.get(f"{VERSION}+%C3%A9").status == 200
    response = ann.post(
        f"{VERSION}+%C3%A9/yank", {**ann.hidden_fields(f"{VERSION}/yank"), "reason": "Broken."}
    )
    assert response.headers["location"] == f"{VERSION}?done=yank"


def test_many_versions_are_shown_page_by_page(tmp_path_factory: pytest.TempPathFactory) -> None:
    with InProcessSite(tmp_path_factory.mktemp("many") / "data") as site:
        ann = a_person(site, "ann")
        times = [f"2026-01-01T00:{minor:02}:00.000Z" for minor in range(51)]
        versions = [version_line(f"1.{minor}.0", publishedAt=it) for minor, it in enumerate(times)]
        import_widgets(site.node, widget_line("ann/clock", versions=versions), into_owned=True)
        browsing = browser_of(ann)
        response = browsing.get("/account/widgets/ann/clock")
        assert "?page=2" in browsing.page.links
        assert len(response.body) < 60_000
        browsing.get("/account/widgets/ann/clock?page=2")
        assert "/account/widgets/ann/clock/versions/1.0.0" in browsing.page.links


def test_installs_of_the_last_days_are_drawn(people: People) -> None:
    ann = browser_of(people.ann)
    ann.get(ACME)
    assert ann.page.all("figure") == []
    store = people.site.node.store
    with store.reading() as connection:
        clock = get_widget(connection, *parse_key("acme/clock")).id
    today = today_of(store)
    with store.counting() as tx:
        add_installs(tx, {(clock, today): 3, (clock, today - 1): 2, (clock, today - 200): 50})
    ann.get(ACME)
    assert ann.page.one("figcaption").text == "5 in the last 90 days"
