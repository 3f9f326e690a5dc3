"""After publishing: yank, deprecate, list, official, publishers; who did it, and why."""

from collections.abc import Callable
from typing import Any

import pytest

from support.people import BUNDLE, Person, with_oauth, with_token
from support.site import Reply
from support.site_with_people import People
from widget_catalog.core.clock import iso

CLOCK = "/api/widgets/acme/clock"
VERSION = f"{CLOCK}/versions/1.0.0"
PUBLIC = "/api/v1/widgets/acme/clock"
DONE = (200, {"success": True})


def told(response: Reply) -> tuple[int, Any]:
    return response.status, response.json()


def shown(people: People) -> Any:
    """The only version, as seen by everybody."""
    (version,) = people.site.get(PUBLIC).json()["versions"]
    return version


def log(person: Person, query: str = "") -> list[dict[str, Any]]:
    response = person.get(f"{CLOCK}/audit{query}")
    assert response.status == 200, response.body
    entries: list[dict[str, Any]] = response.json()["entries"]
    return entries


def test_a_yanked_version_is_never_offered_and_still_loads(people: People) -> None:
    response = people.abe.post(f"{VERSION}/yank", {"reason": " It breaks dashboards. "})

    assert told(response) == DONE
    assert (shown(people)["yanked"], shown(people)["yankedReason"]) == (
        True,
        "It breaks dashboards.",
    )
    detail = people.site.get(PUBLIC).json()
    assert detail["latestVersion"] is None
    found = people.site.get("/api/v1/widgets/search?scope=acme&compatSdk=1.0.0").json()
    assert found["widgets"][0]["latestVersion"] is None
    assert found["widgets"][0]["latestCompatibleVersion"] is None
    (listed,) = people.site.get("/api/widgets/acme/registry.json").json()["widgets"]
    assert listed["latestVersion"] is None
    assert people.site.get("/cdn/@acme/clock/1.0.0/index.js").body == BUNDLE

    assert told(people.abe.post(f"{VERSION}/unyank")) == DONE
    assert (shown(people)["yanked"], shown(people)["yankedReason"]) == (False, None)
    assert people.site.get(PUBLIC).json()["latestVersion"] == "1.0.0"


def test_a_deprecated_version_says_so_and_is_still_offered(people: People) -> None:
    assert told(people.ann.post(f"{VERSION}/deprecate", {"message": "Use 2."})) == DONE
    assert shown(people)["deprecationMessage"] == "Use 2."
    assert people.site.get(PUBLIC).json()["latestVersion"] == "1.0.0"

    assert told(people.ann.post(f"{VERSION}/deprecate", {"message": "Use 3."})) == DONE
    assert shown(people)["deprecationMessage"] == "Use 3."
    assert told(people.ann.post(f"{VERSION}/undeprecate")) == DONE
    assert shown(people)["deprecationMessage"] is None


def test_an_unlisted_widget_is_hidden_from_all_but_its_people(people: People) -> None:
    assert told(people.ann.post(f"{CLOCK}/unlist", {"reason": "Moved."})) == DONE

    assert people.site.get(PUBLIC).status == 404
    assert people.site.get("/api/v1/widgets/search?scope=acme").json()["total"] == 0
    assert people.site.get("/api/widgets/acme/registry.json").json()["widgets"] == []
    assert people.site.get("/cdn/@acme/clock/1.0.0/index.js").status == 200
    for person in (people.mia, people.olly):
        seen = person.get(CLOCK).json()
        assert (seen["listed"], seen["latestVersion"]) == (False, "1.0.0")
    assert people.eve.get(CLOCK).status == 403

    assert told(people.ann.post(f"{CLOCK}/list")) == DONE
    assert people.site.get(PUBLIC).status == 200


def test_its_people_see_what_everybody_sees_and_whether_it_is_listed(people: People) -> None:
    people.site.post(PUBLIC)

    seen = people.mia.get(CLOCK).json()

    assert seen == {**people.site.get(PUBLIC).json(), "listed": True}
    assert seen["widget"]["downloadCount"] == 1


def test_the_operator_alone_says_what_is_official(people: People) -> None:
    assert told(people.ann.post(f"{CLOCK}/official", {"isOfficial": True})) == (
        403,
        {"error": "Only the operator can mark widgets as official."},
    )
    assert told(people.olly.post(f"{CLOCK}/official", {"isOfficial": True})) == DONE
    assert people.site.get(PUBLIC).json()["widget"]["isOfficial"] is True
    found = people.site.get("/api/v1/widgets/search?official=true").json()
    assert [it["scope"] for it in found["widgets"]] == ["acme"]
    # A new version does not change it.
    people.ann.publish("acme/clock", "2.0.0")
    assert people.site.get(PUBLIC).json()["widget"]["isOfficial"] is True

    assert told(people.olly.post(f"{CLOCK}/official", {"isOfficial": False})) == DONE
    assert people.site.get(PUBLIC).json()["widget"]["isOfficial"] is False
    for wrong in ({}, {"isOfficial": "yes"}, {"isOfficial": 1}):
        assert people.olly.post(f"{CLOCK}/official", wrong).status == 400


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("versions/1.0.0/yank", {"reason": "Broken."}),
        ("versions/1.0.0/deprecate", {"message": "Old."}),
        ("unlist", {"reason": "Moved."}),
        ("official", {"isOfficial": True}),
        ("versions/1.0.0/unyank", None),
        ("versions/1.0.0/undeprecate", None),
        ("versions/1.0.0/unrevoke", None),
        ("list", None),
    ],
)
def test_doing_what_is_done_already_changes_nothing(people: People, path: str, body: Any) -> None:
    olly = people.olly
    first = olly.post(f"{CLOCK}/{path}", body)
    before = (olly.get("/api/audit").json(), olly.get(CLOCK).json())

    again = olly.post(f"{CLOCK}/{path}", body)

    assert told(first) == told(again) == DONE
    assert (olly.get("/api/audit").json(), olly.get(CLOCK).json()) == before


def test_another_reason_takes_the_place_of_the_first_and_the_log_keeps_both(
    people: People,
) -> None:
    for reason in ("Broken.", "It shows the wrong day."):
        assert told(people.ann.post(f"{VERSION}/yank", {"reason": reason})) == DONE
    for message in ("Old.", "Use 2."):
        assert told(people.ann.post(f"{VERSION}/deprecate", {"message": message})) == DONE

    version = shown(people)
    assert (version["yanked"], version["yankedReason"]) == (True, "It shows the wrong day.")
    assert version["deprecationMessage"] == "Use 2."
    assert [(it["action"], it["details"]) for it in log(people.ann, "?limit=4")] == [
        ("deprecate", {"message": "Use 2."}),
        ("deprecate", {"message": "Old."}),
        ("yank", {"reason": "It shows the wrong day."}),
        ("yank", {"reason": "Broken."}),
    ]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("versions/1.0.0/yank", "reason"),
        ("versions/1.0.0/deprecate", "message"),
        ("unlist", "reason"),
        ("list", "reason"),
    ],
)
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "must not be empty."),
        (" \u200b", "must not be empty."),
        ("x" * 501, "is too long: 501 characters, and at most 500 are taken."),
        ("a\nb", "contains the character U+000A; control"),
        ("a\u202eb", "contains the character U+202E; control"),
        ("a\x00b", "contains the character U+0000; control"),
        ("a\x1b[31mb", "contains the character U+001B; control"),
    ],
)
def test_a_reason_is_one_line_of_text(
    shared_people: People, path: str, key: str, text: str, error: str
) -> None:
    response = shared_people.ann.post(f"{CLOCK}/{path}", {key: text})

    assert response.status == 400
    assert response.json()["error"].startswith(f"{key}: {error}")


def test_a_yank_and_a_deprecation_must_say_why(shared_people: People) -> None:
    for path, key in (("yank", "reason"), ("deprecate", "message")):
        for body in (None, {}, {key: None}, {key: 1}):
            assert shared_people.ann.post(f"{VERSION}/{path}", body).status == 400


@pytest.mark.parametrize("version", ["2.0.0", "1.0", "v1.0.0", "1.0.0-rc.1", "x", "..", "1.0.0 "])
def test_a_version_that_is_not_there_is_404(shared_people: People, version: str) -> None:
    response = shared_people.ann.post(f"{CLOCK}/versions/{version}/yank", {"reason": "Broken."})

    assert told(response) == (404, {"error": f"There is no version {version!r} of acme/clock."})


def test_a_widget_that_is_not_there_is_404_for_its_scopes_people(shared_people: People) -> None:
    gone = "/api/widgets/acme/gone"
    responses = [
        shared_people.ann.get(gone),
        shared_people.ann.post(f"{gone}/unlist"),
        shared_people.ann.post(f"{gone}/versions/1.0.0/unyank"),
        shared_people.ann.get(f"{gone}/audit"),
        shared_people.ann.get(f"{gone}/publishers"),
        shared_people.olly.post(f"{gone}/official", {"isOfficial": True}),
    ]
    for response in responses:
        assert told(response) == (404, {"error": "There is no widget acme/gone."})


def test_build_metadata_is_no_part_of_which_version_is_meant(people: People) -> None:
    people.ann.publish("acme/clock", "2.0.0+a")

    for number in ("2.0.0", "2.0.0+a", "2.0.0+b"):
        assert people.ann.post(f"{CLOCK}/versions/{number}/unyank").status == 200
    assert people.ann.post(f"{CLOCK}/versions/2.0.0/yank", {"reason": "Broken."}).status == 200
    entry = log(people.ann)[0]
    assert (entry["action"], entry["version"]) == ("yank", "2.0.0+a")


def test_publishers_are_members_and_can_be_changed_as_a_whole(people: People) -> None:
    address = f"{CLOCK}/publishers"
    assert told(people.mia.get(address)) == (200, {"publishers": ["pia"]})

    changed = people.abe.put(address, {"publishers": ["mia", "abe", "mia"]})

    assert told(changed) == (200, {"publishers": ["abe", "mia"]})
    assert told(people.pia.get(address)) == (200, {"publishers": ["abe", "mia"]})
    assert people.mia.publish("acme/clock", "2.0.0").status == 200
    assert people.pia.request("acme/clock", "3.0.0").status == 403
    outsiders = people.ann.put(address, {"publishers": ["mia", "eve", "gone"]})
    assert told(outsiders) == (400, {"error": "Not a member of acme: eve, gone."})
    assert told(people.ann.put(address, {"publishers": []})) == (200, {"publishers": []})
    assert people.mia.request("acme/clock", "3.0.0").status == 403
    # A publisher may publish, and nothing else.
    people.ann.put(address, {"publishers": ["mia"]})
    assert people.mia.post(f"{VERSION}/yank", {"reason": "Broken."}).status == 403
    assert people.mia.post(f"{CLOCK}/unlist").status == 403
    assert people.mia.put(address, {"publishers": ["pia"]}).status == 403


def test_a_personal_scope_has_no_publishers_but_its_owner(people: People) -> None:
    address = "/api/widgets/ann/clock/publishers"

    assert told(people.ann.put(address, {"publishers": ["eve"]})) == (
        400,
        {"error": "Not a member of ann: eve."},
    )
    assert told(people.ann.put(address, {"publishers": []})) == (200, {"publishers": []})


def test_the_log_tells_who_did_what_when_by_what_means_and_why(people: People) -> None:
    people.clock.forward(hours=1)
    with_oauth(people.abe).post(f"{VERSION}/yank", {"reason": "Broken."})
    people.clock.forward(hours=1)
    with_token(people.ann, actions=["deprecate"]).post(f"{VERSION}/deprecate", {"message": "Old."})
    people.olly.post(f"{CLOCK}/unlist", {"reason": "Spam."})

    at = iso(people.clock.at)
    place = {"scope": "acme", "name": "clock"}
    (token,) = people.ann.get("/api/tokens").json()["tokens"]
    assert log(people.ann, "?limit=2") == [
        {
            "at": at,
            "actor": "olly",
            "via": "session",
            "clientId": None,
            "clientName": None,
            "address": None,
            "action": "unlist",
            **place,
            "version": None,
            "details": {"reason": "Spam."},
        },
        {
            "at": at,
            "actor": "ann",
            "via": "token",
            "clientId": token["id"],
            "clientName": "a token",
            "address": "127.0.0.1",
            "action": "deprecate",
            **place,
            "version": "1.0.0",
            "details": {"message": "Old."},
        },
    ]
    assert [(it["actor"], it["via"], it["action"]) for it in log(people.ann)] == [
        ("olly", "session", "unlist"),
        ("ann", "token", "deprecate"),
        ("abe", "oauth", "yank"),
        ("ann", "session", "publish"),
        ("ann", "session", "name publishers"),
    ]


def test_the_log_is_paged_newest_first(people: People) -> None:
    for i in range(5):
        people.ann.post(f"{VERSION}/deprecate", {"message": f"Old {i}."})

    def page(query: str) -> tuple[Any, ...]:
        body = people.ann.get(f"{CLOCK}/audit{query}").json()
        messages = [it["details"].get("message", it["action"]) for it in body["entries"]]
        return messages, body["total"], body["page"], body["limit"]

    assert page("?limit=3") == (["Old 4.", "Old 3.", "Old 2."], 7, 1, 3)
    assert page("?limit=3&page=3") == (["name publishers"], 7, 3, 3)
    assert page("?limit=3&page=4") == ([], 7, 4, 3)
    assert page("?limit=3&page=999999999") == ([], 7, 999_999_999, 3)
    assert page("?limit=5000")[3] == 100
    assert page("")[1:] == (7, 1, 20)
    for wrong in ("page=0", "page=-1", "page=x", "limit=0", "page=1.5", "limit=", "page=٣",
                  "page=99999999999", "page=%ff", "limit=1e3"):  # fmt: skip
        response = people.ann.get(f"{CLOCK}/audit?{wrong}")
        name = wrong.partition("=")[0]
        assert told(response) == (400, {"error": f"{name} must be a whole number, 1 or more."})


def test_the_log_of_a_widget_holds_nothing_of_others(people: People) -> None:
    people.ann.post("/api/widgets/ann/clock/unlist")

    assert {(it["scope"], it["name"]) for it in log(people.ann)} == {("acme", "clock")}
    whole = people.olly.get("/api/audit?limit=100").json()
    assert whole["total"] == len(whole["entries"])
    assert {"create account", "create organization", "unlist"} <= {
        entry["action"] for entry in whole["entries"]
    }


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.ann.post(f"{VERSION}/yank", {"reason": "Broken."}),
        lambda it: it.ann.post(f"{VERSION}/deprecate", {"message": "Old."}),
        lambda it: it.ann.post(f"{CLOCK}/unlist"),
        lambda it: it.olly.post(f"{CLOCK}/official", {"isOfficial": True}),
    ],
)
def test_a_change_is_seen_by_caches_at_once(
    people: People, change: Callable[[People], Reply]
) -> None:
    known = people.site.get(PUBLIC).headers["etag"]
    registry = people.site.get("/api/widgets/acme/registry.json").headers["etag"]
    assert people.site.get(PUBLIC, if_none_match=known).status == 304

    change(people)

    assert people.site.get(PUBLIC, if_none_match=known).status in (200, 404)
    again = people.site.get("/api/widgets/acme/registry.json", if_none_match=registry)
    assert again.status == 200


@pytest.mark.parametrize(
    ("key", "status"),
    [("Acme/clock", 400), ("acme/Clock", 400), ("acme/..", 400), ("../clock", 400),
     ("acme/clock%00", 400), ("acme/\x00", 404), ("acme/ clock", 400), ("a" * 65 + "/clock", 400)],
)  # fmt: skip
def test_what_cannot_be_a_widget_is_refused(shared_people: People, key: str, status: int) -> None:
    response = shared_people.olly.get(f"/api/widgets/{key}")

    assert (response.status, list(response.json())) == (status, ["error"])
