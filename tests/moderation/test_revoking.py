"""Revoking a version: it must not run, its bundle is not served, and its bytes are kept."""

import hashlib
from typing import Any

import pytest

from support.people import request_body
from support.service import wait_for
from support.site import Reply
from support.site_with_people import People
from support.widgets import version_line, widget_line
from widget_catalog.catalog.store.files import withdraw_files
from widget_catalog.operations.doctor import check_catalog

CLOCK = "/api/widgets/acme/clock"
VERSION = f"{CLOCK}/versions/2.0.0"
PUBLIC = "/api/v1/widgets/acme/clock"
REVOCATIONS = "/api/v1/widgets/revocations"
CDN = "/cdn/@acme/clock/2.0.0/index.js"
BUNDLE = b"export function mount() { return 2; }\n"
HASH = hashlib.sha256(BUNDLE).hexdigest()
REASON = {"reason": "It sends settings to a stranger."}


@pytest.fixture(autouse=True)
def published(people: People) -> None:
    """A version with unique bytes."""
    assert people.ann.publish("acme/clock", "2.0.0", BUNDLE).status == 200


def told(response: Reply) -> tuple[int, Any]:
    return response.status, response.json()


def revoked(people: People) -> list[dict[str, Any]]:
    response = people.site.get(REVOCATIONS)
    assert response.status == 200
    found: list[dict[str, Any]] = response.json()["revocations"]
    return found


def stored_files(people: People) -> list[str]:
    folder = people.site.settings.data / "bundles"
    return sorted(it.name[-14:] for it in folder.rglob("*") if HASH[2:] in it.name)


def test_compressed_forms_of_a_revoked_version_are_removed_and_made_again(people: People) -> None:
    large = BUNDLE * 100
    sha256_hash = hashlib.sha256(large).hexdigest()
    assert people.ann.publish("acme/clock", "3.0.0", large).status == 200
    folder = people.site.settings.data / "bundles" / sha256_hash[:2]
    form, version = folder / f"{sha256_hash[2:]}.js.br", f"{CLOCK}/versions/3.0.0"
    wait_for(form.exists)

    assert people.olly.post(f"{version}/revoke", REASON).status == 200

    assert [it.suffix for it in folder.glob(f"{sha256_hash[2:]}.*")] == [".revoked"]
    cdn = CDN.replace("2.0.0", "3.0.0")
    assert people.site.get(cdn, accept_encoding="br").status == 410
    assert people.olly.post(f"{version}/unrevoke").status == 200
    wait_for(form.exists)
    assert people.site.get(cdn, accept_encoding="br").status == 200


def test_a_revoked_version_counts_as_yanked_and_its_bundle_is_gone(people: People) -> None:
    assert revoked(people) == []
    assert people.site.get(CDN).status == 200

    response = people.olly.post(f"{VERSION}/revoke", REASON)

    assert told(response) == (200, {"success": True, "sameBundle": []})
    detail = people.site.get(PUBLIC).json()
    version = detail["versions"][0]
    assert (version["yanked"], version["yankedReason"]) == (True, REASON["reason"])
    assert detail["latestVersion"] == "1.0.0"
    (entry,) = revoked(people)
    at = entry.pop("at")
    assert at.endswith("Z")
    assert entry == {"sha256Hash": HASH, "id": "acme/clock", "version": "2.0.0", **REASON}
    gone = people.site.get(CDN)
    assert told(gone) == (
        410,
        {"error": f"This version was revoked, and must not be used: {REASON['reason']}"},
    )
    assert gone.headers["access-control-allow-origin"] == "*"
    assert gone.headers["cache-control"] == "no-store"
    assert [it.rpartition(".")[2] for it in stored_files(people)] == ["revoked"]


def test_taking_it_back_leaves_all_as_it_was(people: People) -> None:
    people.abe.post(f"{VERSION}/yank", {"reason": "Old."})
    before = people.site.get(PUBLIC).json()
    people.olly.post(f"{VERSION}/revoke", REASON)
    assert people.site.get(PUBLIC).json() != before

    assert told(people.olly.post(f"{VERSION}/unrevoke")) == (200, {"success": True})

    assert people.site.get(PUBLIC).json() == before
    assert people.site.get(CDN).body == BUNDLE
    assert revoked(people) == []
    log = people.olly.get(f"{CLOCK}/audit?limit=3").json()["entries"]
    assert [(it["action"], it["version"], it["details"]) for it in log] == [
        ("unrevoke", "2.0.0", {}),
        ("revoke", "2.0.0", REASON),
        ("yank", "2.0.0", {"reason": "Old."}),
    ]


def test_only_the_operator_revokes_and_unyanking_does_not_take_it_back(people: People) -> None:
    refused = (403, {"error": "Only the operator can revoke versions."})
    assert told(people.ann.post(f"{VERSION}/revoke", REASON)) == refused
    people.olly.post(f"{VERSION}/revoke", REASON)
    assert told(people.ann.post(f"{VERSION}/unrevoke")) == refused

    response = people.ann.post(f"{VERSION}/unyank")

    assert told(response) == (
        409,
        {"error": "acme/clock 2.0.0 is revoked: only the operator can take that back."},
    )
    assert people.site.get(PUBLIC).json()["latestVersion"] == "1.0.0"


def test_the_same_reason_again_changes_nothing_and_another_one_does(people: People) -> None:
    people.olly.post(f"{VERSION}/revoke", REASON)
    before = people.site.get(REVOCATIONS)

    people.olly.post(f"{VERSION}/revoke", REASON)
    assert people.site.get(REVOCATIONS).body == before.body

    people.olly.post(f"{VERSION}/revoke", {"reason": "Worse."})
    assert [it["reason"] for it in revoked(people)] == ["Worse."]


@pytest.mark.parametrize("body", [None, {}, {"reason": ""}, {"reason": 1}, {"reason": "x" * 501}])
def test_a_reason_is_needed(people: People, body: Any) -> None:
    assert people.olly.post(f"{VERSION}/revoke", body).status == 400
    assert revoked(people) == []


def test_what_does_not_exist_cannot_be_revoked(people: People) -> None:
    for path in ("acme/clock/versions/9.9.9", "acme/none/versions/1.0.0"):
        assert people.olly.post(f"/api/widgets/{path}/revoke", REASON).status == 404


def test_bytes_that_another_version_has_stay_until_that_is_revoked_too(people: People) -> None:
    assert people.ann.publish("ann/copy", "1.0.0", BUNDLE).status == 200

    response = people.olly.post(f"{VERSION}/revoke", REASON).json()

    assert response["sameBundle"] == ["ann/copy 1.0.0"]
    assert people.site.get(CDN).status == 410
    assert people.site.get("/cdn/@ann/copy/1.0.0/index.js").body == BUNDLE
    people.olly.post("/api/widgets/ann/copy/versions/1.0.0/revoke", REASON)
    assert [it.rpartition(".")[2] for it in stored_files(people)] == ["revoked"]


REFUSED = {
    "error": "The operator has revoked this bundle (It sends settings to a stranger): the same "
    "bytes cannot be published again. Change the module."
}


def test_revoked_bytes_cannot_be_published_under_a_new_number(people: People) -> None:
    """Not 409, which tools read as "already published"."""
    late = people.ann.request("acme/clock", "2.0.2", BUNDLE).json()
    people.ann.upload(late["uploadUrl"], BUNDLE)
    people.olly.post(f"{VERSION}/revoke", REASON)

    assert told(people.ann.request("acme/clock", "2.0.1", BUNDLE)) == (403, REFUSED)
    body = request_body("acme/clock", "2.0.1", BUNDLE, action="check")
    assert told(people.ann.post("/api/widgets/publish", body)) == (403, REFUSED)
    assert told(people.ann.confirm(late["versionId"])) == (403, REFUSED)
    assert people.ann.request("acme/clock", "2.0.0", BUNDLE).status == 409


def test_revoking_a_copy_leaves_the_original_alone(people: People) -> None:
    assert people.eve.publish("eve/copy", "1.0.0", BUNDLE).status == 200

    response = people.olly.post("/api/widgets/eve/copy/versions/1.0.0/revoke", REASON)

    assert response.json()["sameBundle"] == ["acme/clock 2.0.0"]
    assert [(it["id"], it["version"]) for it in revoked(people)] == [("eve/copy", "1.0.0")]
    assert people.site.get("/cdn/@eve/copy/1.0.0/index.js").status == 410
    assert people.site.get(CDN).body == BUNDLE
    assert people.ann.publish("acme/clock", "2.0.1", BUNDLE).status == 200
    assert told(people.eve.request("eve/copy", "1.0.1", BUNDLE)) == (403, REFUSED)


def test_a_copy_that_is_revoked_before_the_original_is_published_does_not_stop_it(
    people: People,
) -> None:
    js = b"export function mount() { return 'new'; }\n"
    assert people.eve.publish("eve/copy", "1.0.0", js).status == 200
    people.olly.post("/api/widgets/eve/copy/versions/1.0.0/revoke", REASON)

    assert people.ann.publish("ann/new", "1.0.0", js).status == 200

    assert people.site.get("/cdn/@ann/new/1.0.0/index.js").body == js
    people.olly.post("/api/widgets/eve/copy/versions/1.0.0/unrevoke")
    assert people.site.get("/cdn/@eve/copy/1.0.0/index.js").body == js
    assert people.site.get("/cdn/@ann/new/1.0.0/index.js").body == js


def test_bytes_are_revoked_everywhere_once_the_operator_has_named_what_that_hits(
    people: People,
) -> None:
    for version in ("1.0.0", "1.1.0"):
        assert people.ann.publish("ann/copy", version, BUNDLE).status == 200
    everywhere = {**REASON, "everywhere": True}
    others = ["ann/copy 1.0.0", "ann/copy 1.1.0"]

    for agreed in ([], others[:1], [*others, "ann/clock 1.0.0"]):
        refused = people.olly.post(f"{VERSION}/revoke", {**everywhere, "sameBundle": agreed})
        assert told(refused) == (
            409,
            {
                "error": "This also revokes ann/copy 1.0.0, ann/copy 1.1.0. Check that, and "
                "confirm it."
            },
        )
    assert revoked(people) == []
    assert people.ann.post(f"{VERSION}/revoke", everywhere).status == 403

    response = people.olly.post(f"{VERSION}/revoke", {**everywhere, "sameBundle": others})

    assert told(response) == (200, {"success": True, "sameBundle": []})
    assert {(it["id"], it["version"], it["sha256Hash"]) for it in revoked(people)} == {
        ("acme/clock", "2.0.0", HASH),
        ("ann/copy", "1.0.0", HASH),
        ("ann/copy", "1.1.0", HASH),
    }
    assert [it.rpartition(".")[2] for it in stored_files(people)] == ["revoked"]
    assert told(people.eve.request("eve/new", "1.0.0", BUNDLE)) == (403, REFUSED)
    log = people.olly.get("/api/widgets/ann/copy/audit?limit=1").json()["entries"]
    assert [(it["action"], it["details"]) for it in log] == [
        ("revoke", {**REASON, "everywhere": True})
    ]


def test_bytes_can_be_published_again_when_the_last_revocation_is_undone(
    people: People,
) -> None:
    assert people.ann.publish("ann/copy", "1.0.0", BUNDLE).status == 200
    body = {**REASON, "everywhere": True, "sameBundle": ["ann/copy 1.0.0"]}
    assert people.olly.post(f"{VERSION}/revoke", body).status == 200

    people.olly.post("/api/widgets/ann/copy/versions/1.0.0/unrevoke")
    assert people.site.get("/cdn/@ann/copy/1.0.0/index.js").body == BUNDLE
    assert people.eve.request("eve/new", "1.0.0", BUNDLE).status == 403
    people.olly.post(f"{VERSION}/unrevoke")

    assert people.eve.request("eve/new", "1.0.0", BUNDLE).status == 200


def test_a_copy_that_is_hosted_elsewhere_is_revoked_everywhere_too(people: People) -> None:
    version = version_line("1.0.0", sha256Hash=HASH, bundleUrl="https://cdn.example/x.js")
    people.site.add(widget_line("labs/far", versions=[version]))
    body = {**REASON, "everywhere": True, "sameBundle": ["labs/far 1.0.0"]}

    assert people.olly.post(f"{VERSION}/revoke", body).status == 200

    assert {it["id"] for it in revoked(people)} == {"acme/clock", "labs/far"}


def test_an_unlisted_widget_is_still_reported(people: People) -> None:
    people.olly.post(f"{VERSION}/revoke", REASON)
    people.ann.post(f"{CLOCK}/unlist", {"reason": "Moved."})

    assert [it["id"] for it in revoked(people)] == ["acme/clock"]
    assert people.site.get(CDN).status == 410


def test_the_response_is_tagged_and_says_how_new_it_is(people: People) -> None:
    first = people.site.get(REVOCATIONS)
    assert people.site.get(REVOCATIONS, if_none_match=first.headers["etag"]).status == 304
    people.olly.post(f"{VERSION}/revoke", REASON)
    second = people.site.get(REVOCATIONS)

    assert second.headers["etag"] != first.headers["etag"]
    assert second.json()["revision"] == first.json()["revision"] + 1
    assert second.headers["access-control-allow-origin"] == "*"
    assert people.site.request("HEAD", REVOCATIONS).status == 200
    wrong = people.site.post(REVOCATIONS)
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert people.site.request("OPTIONS", REVOCATIONS).status == 204


def test_doctor_is_content_and_moves_what_a_crash_left_in_place(people: People) -> None:
    node = people.site.node
    people.olly.post(f"{VERSION}/revoke", REASON)
    node.bundles.restore(HASH)  # As if the service had been killed before it moved the file.

    findings = check_catalog(node.store, node.bundles, node.replica)

    assert (findings.errors, findings.orphans, findings.mended) == ([], [], [])
    assert [it.rpartition(".")[2] for it in stored_files(people)] == ["revoked"]
    withdraw_files(node.store, node.bundles)
    assert len(stored_files(people)) == 1


def test_a_rebuilt_replica_knows_it(people: People) -> None:
    people.olly.post(f"{VERSION}/revoke", REASON)
    before = people.site.get(REVOCATIONS).body

    people.site.node.replica.rebuild(people.site.node.store)

    assert people.site.get(REVOCATIONS).body == before
    assert people.site.get(CDN).status == 410
