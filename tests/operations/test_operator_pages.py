"""The operator's pages: what they show, what they change, and what they never reveal."""

import json
import re
from pathlib import Path

import pytest

from support.browsing import PERSONAL, Browsing, browser_of
from support.html import Element
from support.people import PASSWORD, Person, signed_in, with_oauth, with_token
from support.site_with_people import BuiltPeople, People
from support.widgets import widget_line
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.accounts.create_account import invite
from widget_catalog.accounts.store import get_account, update_account
from widget_catalog.catalog.store.audit import AuditEntry, AuditFilter
from widget_catalog.core.actors import Actor, Via
from widget_catalog.core.errors import NotAllowed
from widget_catalog.moderation.manage_scopes import reserve_scope
from widget_catalog.operations.audit import read_audit_part, search_audit

NEW = "another long password"


@pytest.fixture
def olly(people: People) -> Browsing:
    return browser_of(people.olly)


def rows(browsing: Browsing) -> list[str]:
    return [it.text for it in browsing.page.all("li")]


def described(browsing: Browsing) -> tuple[list[Element], list[Element]]:
    return browsing.page.all("dt"), browsing.page.all("dd")


def audit_of(person: Person) -> list[tuple[str, str]]:
    entries = person.get("/api/audit").json()["entries"]
    return [(it["actor"], it["action"]) for it in entries]


def test_the_overview_shows_numbers_health_and_settings(people: People, olly: Browsing) -> None:
    response = olly.get("/operate")

    assert (response.status, olly.title) == (200, "Overview")
    assert PERSONAL.items() <= response.headers.items()
    told = olly.page.one("main").text
    numbers = [(it.text, them.text) for it, them in zip(*described(olly), strict=True)][:4]
    assert numbers == [
        ("widgets, 2 listed", "2"),
        ("versions listed", "2"),
        ("installs", "0"),
        ("accounts", "6"),
    ]
    assert "Databaseok Bundlesok Writingok" in told
    assert "Free disk space" in told
    # Only what concerns this installation: nodes share a database, and no setting is a default.
    shares = bool(people.site.settings.database)
    assert ("Replication lag of this nodenone" in told) is shares
    assert ("node" in told) is shares
    assert "scrub_mb_per_s" not in told
    assert "/docs/settings" in olly.page.links
    assert len(response.body) < 60_000


def test_secrets_are_never_shown(built_people: BuiltPeople, tmp_path: Path) -> None:
    with People(
        built_people, tmp_path / "data", oidc_client_secret="hush-hush", secret_key="very" * 10
    ) as people:
        olly = browser_of(people.olly)
        body = olly.get("/operate").body
        assert b"hush-hush" not in body
        assert b"very" * 10 not in body
        assert body.count(b"set (hidden)") == 2


def test_the_audit_log_is_filtered_and_downloaded(people: People, olly: Browsing) -> None:
    people.ann.post("/api/widgets/acme/clock/versions/1.0.0/yank", {"reason": "Broken <i>."})

    olly.get("/operate/audit?actor=@ann&action=yank&scope=acme/clock&since=2020-01-01")
    assert len(rows(olly)) == 1
    assert rows(olly)[0].startswith("yank acme/clock 1.0.0 reason: Broken <i>.")
    link = next(it for it in olly.page.links if "ndjson" in it)
    response = olly.get(link)
    assert response.headers["content-disposition"] == 'attachment; filename="audit.ndjson"'
    (line,) = [json.loads(it) for it in response.body.splitlines()]
    assert (line["actor"], line["action"], line["details"]) == (
        "ann",
        "yank",
        {"reason": "Broken <i>."},
    )
    everything = olly.get("/operate/audit.ndjson").body.splitlines()
    assert len(everything) == people.olly.get("/api/audit").json()["total"]
    olly.get("/operate/audit?until=2020-01-01")
    assert rows(olly) == []


def test_the_details_of_the_audit_log_are_words_and_only_what_there_is_to_tell(
    people: People, olly: Browsing
) -> None:
    invite(people.site.node.store)
    people.site.add(widget_line("imported/clock"))
    signed_in(people.site, "eve")
    people.ann.put("/api/widgets/acme/clock/publishers", {"publishers": []})

    olly.get("/operate/audit")

    publishers, sign_in, imported, invited = rows(olly)[:4]
    assert "publishers: none" in publishers
    assert "method: password · session: " in sign_in
    assert "widgets added: 1 · versions added: 1" in imported
    assert "cleaned" not in imported
    assert re.match(r"invite to the catalog role: author \d{1,2} \w+ \d{4}, ", invited)
    told = olly.page.one("main").text
    assert "None" not in told
    assert "way:" not in told


def test_the_audit_log_is_downloaded_part_by_part(people: People) -> None:
    store, actor = people.site.node.store, Actor(via=Via.COMMAND)
    whole, total = search_audit(store, actor, AuditFilter(), 1, 1_000)
    read: list[AuditEntry] = []
    before: int | None = None
    parts = 0
    while parts == 0 or before is not None:
        entries, before = read_audit_part(store, actor, AuditFilter(), before, 3)
        read += entries
        parts += 1
    assert read == whole
    assert parts == total // 3 + 1


def test_settings_are_described_without_links_to_the_documentation(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "data", workers=2, audit_keep_days=30) as people:
        olly = browser_of(people.olly)
        olly.get("/operate")
        shown = olly.page.one("main").text
    assert "Number of worker processes, 1 to 256." in shown
    assert "How long entries of the audit log are kept" in shown
    assert "See " not in shown
    assert "](" not in shown


@pytest.mark.parametrize(
    "query", ["since=tomorrow", "action=dance", "actor=%00", "until=9999-12-31"]
)
def test_a_filter_that_makes_no_sense_is_reported(olly: Browsing, query: str) -> None:
    assert olly.get(f"/operate/audit?{query}").status == 400
    assert len(olly.errors) == 1
    assert olly.get(f"/operate/audit.ndjson?{query}").status == 400


def test_accounts_are_found_by_name_and_address(olly: Browsing) -> None:
    olly.get("/operate/accounts?q=@mia")
    assert [it.split()[:2] for it in rows(olly)] == [["@mia", "mia@example.org"]]
    olly.get("/operate/accounts?q=PIA@")
    assert rows(olly)[0].startswith("@pia")
    olly.get("/operate/accounts?q=%25")
    assert rows(olly) == []
    assert olly.get("/operate/accounts?q=%00").status == 400
    assert olly.get("/operate/accounts/nobody").status == 404


def test_an_account_is_disabled_and_enabled(people: People, olly: Browsing) -> None:
    olly.get("/operate/accounts/eve")

    response = olly.submit("/operate/accounts/eve/disable")

    assert response.headers["location"] == "/operate/accounts/eve?done=disable"
    assert people.eve.get("/api/auth/session").status == 401
    assert audit_of(people.olly)[0] == ("olly", "disable account")
    olly.get("/operate/accounts/eve?done=disable")
    assert olly.page.one("p", role="status").text.startswith(
        "The account was disabled and cannot sign in."
    )
    olly.submit("/operate/accounts/eve/enable")
    Browsing(people.site).sign_in("eve")


def test_operators_do_not_disable_themselves(people: People, olly: Browsing) -> None:
    olly.get("/operate/accounts/olly")
    response = olly.submit("/operate/accounts/olly/disable")
    assert (response.status, olly.errors) == (
        409,
        ["You cannot disable your own account. Another operator can."],
    )


def test_somebodys_tokens_and_programs_are_ended(people: People, olly: Browsing) -> None:
    machine, program = with_token(people.eve, name="ci <b>"), with_oauth(people.eve)
    olly.get("/operate/accounts/eve")
    assert "ci <b>may publish in all their scopes" in olly.page.one("main").text
    actions = [it.attributes["action"] or "" for it in olly.page.all("form")]
    for word, person in (("/tokens/", machine), ("/programs/", program)):
        (action,) = [it for it in actions if word in it]
        assert person.get("/api/widgets/scopes").status == 200
        olly.get("/operate/accounts/eve")
        # A token cannot be reached through another account.
        elsewhere = action.replace("/eve/", "/mia/")
        assert olly.post(elsewhere, olly.hidden_fields(action)).status == 404
        olly.get("/operate/accounts/eve")
        assert olly.submit(action).status == 303
        assert person.get("/api/widgets/scopes").status == 401


def test_a_reset_link_works_once(people: People, olly: Browsing) -> None:
    machine = with_token(people.eve)
    olly.get("/operate/accounts/eve")
    assert olly.submit("/operate/accounts/eve/reset-link").status == 200
    link = olly.page.one("pre").text.removeprefix("https://catalog.example")
    eve = Browsing(people.site)
    assert eve.get(link).status == 200
    assert eve.submit("/reset-password", password="short").status == 400
    assert eve.errors == ["The password is too short: at least 12 characters are needed."]
    assert machine.get("/api/widgets/scopes").status == 200

    response = eve.submit("/reset-password", password=NEW)

    assert (response.status, response.headers["location"]) == (303, "/sign-in?next=/account")
    assert machine.get("/api/widgets/scopes").status == 401
    assert audit_of(people.olly)[:2] == [
        ("eve", "reset password"),
        ("olly", "make reset link"),
    ]
    assert eve.get(link).status == 403
    assert (
        eve.post("/reset-password", {"link": link.partition("=")[2], "password": NEW}).status == 403
    )
    Browsing(people.site).sign_in("eve", NEW)


def make_reset_link(people: People) -> str:
    olly = Browsing(people.site).sign_in("olly")
    olly.get("/operate/accounts/eve")
    olly.submit("/operate/accounts/eve/reset-link")
    return olly.page.one("pre").text.removeprefix("https://catalog.example")


def test_a_reset_link_lasts_a_day_however_old_its_key_is(people: People) -> None:
    make_reset_link(people)
    people.clock.forward(hours=23)
    link = make_reset_link(people)
    people.clock.forward(hours=23)
    make_reset_link(people)  # With another key.

    assert Browsing(people.site).get(link).status == 200


def test_a_reset_link_ends_after_a_day_and_with_the_account(people: People) -> None:
    eve = Browsing(people.site)
    link = make_reset_link(people)
    assert eve.get(link + "x").status == 403
    assert eve.get("/reset-password").status == 403
    set_disabled(people.site.node.store, "eve", is_disabled=True)
    assert eve.get(link).status == 403
    set_disabled(people.site.node.store, "eve", is_disabled=False)
    assert eve.get(link).status == 200
    people.clock.forward(hours=25)
    assert eve.get(link).status == 403


def test_invitations_are_made_and_withdrawn(built_people: BuiltPeople, tmp_path: Path) -> None:
    with People(built_people, tmp_path / "data", registration="invitation") as people:
        olly, guest = browser_of(people.olly), Browsing(people.site)
        olly.get("/operate/invitations")
        assert olly.submit("/operate/invitations", email="nonsense").status == 400
        assert olly.errors == ["'nonsense' is not an e-mail address."]
        links = []
        for email in ("bob@example.org", "cat@example.org"):
            olly.get("/operate/invitations")
            olly.submit("/operate/invitations", email=email, role="author")
            links.append(olly.page.one("pre").text.removeprefix("https://catalog.example"))
        olly.get("/operate/invitations")
        actions = [it.attributes["action"] or "" for it in olly.page.all("form")]
        open_ones = zip(rows(olly), [it for it in actions if "/invitations/" in it], strict=True)
        by_email = {text.partition("from")[0]: action for text, action in open_ones}
        assert sorted(by_email) == ["bob@example.org author", "cat@example.org author"]
        withdraw = by_email["bob@example.org author"]
        assert olly.submit(withdraw).headers["location"] == "/operate/invitations?done=withdraw"
        assert guest.get(links[0]).status == 403
        assert guest.get(links[1]).status == 200
        joined = guest.submit("/join", username="cat", email="cat@example.org", password=PASSWORD)
        assert joined.status == 303


def test_names_are_reserved_and_released(people: People, olly: Browsing) -> None:
    for form, name, status in (
        ("reserve", "kept", 303),
        ("reserve", "kept", 409),
        ("reserve", "Not A Name", 400),
        ("release", "acme", 409),
        ("release", "nothing", 404),
        ("release", "kept", 303),
    ):
        olly.get("/operate/scopes")
        response = olly.submit(f"/operate/scopes/{form}", name=name)
        assert response.status == status, (form, name)
        if status != 303:
            assert olly.page.one("div", role="alert").attributes["id"] == f"faults-{form}-name"
        elif form == "reserve":
            olly.get("/operate/scopes?kind=reserved")
            assert rows(olly)[0].startswith("kept reserved since ")
    assert audit_of(people.olly)[0] == ("olly", "release scope")


def test_widgets_are_listed_by_scope_and_state(people: People, olly: Browsing) -> None:
    people.ann.post("/api/widgets/acme/clock/unlist", {})
    olly.get("/operate/widgets")
    assert len(rows(olly)) == 2
    for query, keys in (
        ("state=unlisted", ["acme/clock"]),
        ("state=official", []),
        ("state=revoked", []),
        ("q=ann", ["ann/clock"]),
    ):
        olly.get(f"/operate/widgets?{query}")
        shown = [it.text for it in olly.page.all("code") if "/" in it.text]
        assert shown == keys, query
    response = olly.get("/operate/widgets?q=@acme/clock")
    assert (response.status, response.headers["location"]) == (303, "/account/widgets/acme/clock")
    assert olly.get("/operate/widgets?q=a//b").status == 400
    assert olly.errors == ["Enter a scope, or a scope and a name such as ann/clock."]


def test_anyone_who_is_no_operator_any_more_is_refused_in_the_transaction(people: People) -> None:
    """Even if the account was an operator when the request was authenticated."""
    store = people.site.node.store
    with store.writing() as tx:
        before = get_account(tx.connection, "olly")
        update_account(tx, before.id, is_operator=False)
    actor = Actor(via=Via.SESSION, account=before)
    with pytest.raises(NotAllowed):
        reserve_scope(store, "kept", actor)
    with pytest.raises(NotAllowed):
        set_disabled(store, "eve", is_disabled=True, actor=actor)
