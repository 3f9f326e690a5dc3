"""The pages of webhooks, for the owners of scopes and for the operator."""

from accounts.oauth.program import authorize_address
from support.browsing import browser_of
from support.site_with_people import People
from widget_catalog.accounts.administer_account import appoint_operator

HERE = "/account/webhooks"
URL = "https://hooks.example/catalog?<b>"


def test_a_webhook_is_added_looked_after_and_removed(people: People) -> None:
    ann = browser_of(people.ann)
    ann.get(HERE)
    assert [it.text for it in ann.page.all("option")] == ["ann", "acme"]
    assert ann.submit(HERE, url="http://hooks.example/", scope="acme").status == 400
    (error,) = ann.errors
    assert error == (
        "Must begin with https://. The setting webhook_http of the catalog allows http://."
    )
    assert ann.page.one("input", id="create-url").attributes["value"] == "http://hooks.example/"

    assert ann.submit(HERE, url=URL, scope="acme", type="revoked").status == 200
    assert ann.page.one("pre").text.startswith("whsec_")
    (made,) = people.ann.get("/api/webhooks").json()["webhooks"]
    place = f"{HERE}/{made['id']}"
    ann.get(HERE)
    assert [it.text for it in ann.page.all("li")] == [f"{URL} enabled @acme · revoked"]

    ann.get(place)
    assert ann.submit(f"{place}/ping").headers["location"] == f"{place}?done=ping"
    ann.get(place)
    (delivery,) = people.ann.get(f"/api/webhooks/{made['id']}/deliveries").json()["deliveries"]
    assert delivery["id"] in ann.page.one("main").text

    assert ann.submit(f"{place}/rotate").status == 200
    assert ann.page.one("pre").text.startswith("whsec_")
    ann.get(place)
    assert ann.submit(f"{place}/disable").status == 303
    ann.get(place)
    assert "Disabled by ann." in ann.page.one("main").text
    assert ann.submit(f"{place}/enable").status == 303
    ann.get(place)
    removed = ann.submit(f"{place}/remove")
    assert removed.headers["location"] == f"{HERE}?done=remove"
    assert ann.get(place).status == 404


def test_the_operator_sees_all_and_adds_those_of_the_catalog(people: People) -> None:
    people.ann.post("/api/webhooks", {"url": URL, "scope": "ann"})
    olly = browser_of(people.olly)
    olly.get("/operate/webhooks")
    assert olly.submit("/operate/webhooks", url="https://hooks.example/all").status == 200
    olly.get("/operate/webhooks")
    rows = sorted(it.text for it in olly.page.all("li"))
    assert rows == [
        "https://hooks.example/all enabled the whole catalog · every event",
        f"{URL} enabled @ann · every event",
    ]
    eve = browser_of(people.eve)
    for hook in people.olly.get("/api/webhooks").json()["webhooks"]:
        assert eve.get(f"{HERE}/{hook['id']}").status == 404


def test_pages_of_others_tell_what_they_mean_for_webhooks(people: People) -> None:
    olly = browser_of(people.olly)
    appoint_operator(people.site.node.store, "eve")
    olly.get("/operate/accounts/eve")
    assert "Webhooks that only an operator can add are disabled." in olly.page.one("main").text
    olly.get(authorize_address())
    assert ", manage webhooks" in olly.page.one("main").text
