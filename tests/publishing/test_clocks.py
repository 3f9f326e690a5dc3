"""A wrong server clock: the version published last is still the latest."""

from support.people import with_token
from support.site_with_people import People
from widget_catalog.catalog.node.node import open_node
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.core.clock import iso
from widget_catalog.publishing.change_widget import redate_widget


def _shown(people: People) -> tuple[str, list[tuple[str, str]]]:
    detail = people.site.get("/api/v1/widgets/ann/clock").json()
    dated = [(it["version"], it["publishedAt"]) for it in detail["versions"]]
    return detail["latestVersion"], dated


def test_a_version_published_while_the_clock_is_behind_is_the_latest(people: People) -> None:
    _, [(_, first_at)] = _shown(people)
    people.clock.forward(hours=-10)

    assert people.ann.publish("ann/clock", "1.1.0").status == 200

    latest, [(_, at), _] = _shown(people)
    assert latest == "1.1.0"
    assert first_at < at
    found = people.site.get("/api/v1/widgets/search?scope=ann").json()["widgets"]
    assert found[0]["latestVersion"]["version"] == "1.1.0"


def test_versions_from_the_far_future_must_be_redated_before_another_is_published(
    people: People,
) -> None:
    ann = with_token(people.ann)
    people.clock.forward(days=-3)

    refused = ann.publish("ann/clock", "1.1.0")

    assert refused.status == 503
    assert "run: widget-catalog version redate ann/clock" in refused.json()["error"]
    node = open_node(people.site.node.folder.path, now=people.clock)
    assert redate_widget(node.store, "ann/clock") == 1
    assert redate_widget(node.store, "ann/clock") == 0
    assert _shown(people) == ("1.0.0", [("1.0.0", iso(people.clock.at))])
    people.clock.forward(seconds=1)
    assert ann.publish("ann/clock", "1.1.0").status == 200
    assert _shown(people)[0] == "1.1.0"
    with node.store.reading() as connection:
        entries, _ = list_entries(connection, "ann", "clock", 1, 100)
    assert [it.action for it in entries][:2] == ["publish", "redate"]


def test_a_session_opened_while_the_clock_was_far_ahead_is_over(people: People) -> None:
    assert people.ann.get("/api/auth/session").status == 200

    people.clock.forward(days=-3)

    assert people.ann.get("/api/widgets/scopes").status == 401
