"""Quotas of an account: organizations, widgets, versions, bytes, requests, uploads."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from support.people import BUNDLE, Person, request_body, with_token
from support.site import Reply
from support.site_with_people import BuiltPeople, People, join
from widget_catalog.catalog.model.settings import CatalogSettings
from widget_catalog.core.http import receiving
from widget_catalog.core.http.http import PlainRequest

QUOTAS = {
    "max_organizations": 2,
    "max_new_widgets_per_day": 2,
    "max_versions_per_hour": 4,
    "max_bytes_per_day": 20_000,
    "max_open_requests": 2,
    "max_changes_per_hour": 3,
}


@pytest.fixture
def strict(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    """A site with people and low quotas. What was published to build it does not count."""
    with People(built_people, tmp_path / "data", **QUOTAS) as people:
        people.clock.forward(days=2)
        yield people


def create(person: Person, slug: str) -> Reply:
    return person.post("/api/organizations", {"slug": slug, "displayName": slug})


def assert_refused(response: Reply, sentence: str, wait_s: int) -> None:
    assert (response.status, response.headers["retry-after"]) == (429, str(wait_s))
    assert list(response.json()) == ["error"]
    assert response.json()["error"].startswith(sentence)


def test_versions_are_limited_by_the_hour_whatever_token_is_used(strict: People) -> None:
    tokens = [strict.ann, with_token(strict.ann), with_token(strict.ann)]
    for i in range(4):
        assert tokens[i % 3].publish("ann/clock", f"2.{i}.0").status == 200
        strict.clock.forward(minutes=1)

    for person in tokens:
        refused = person.request("ann/clock", "3.0.0")
        assert_refused(refused, "At most 4 versions can be published in an hour.", 56 * 60)
    body = request_body("ann/clock", "3.0.0", action="check")
    assert strict.ann.post("/api/widgets/publish", body).status == 429
    assert strict.abe.publish("acme/clock", "3.0.0").status == 200
    strict.clock.forward(minutes=56)
    assert strict.ann.publish("ann/clock", "3.0.0").status == 200


def test_quotas_hold_at_the_confirmation_and_count_only_what_was_published(
    strict: People,
) -> None:
    ann = strict.ann
    for i in range(3):
        assert ann.publish("ann/clock", f"2.{i}.0").status == 200
    # Failures are not counted: a wrong upload, an existing version, an invalid manifest.
    broken = ann.request("ann/clock", "9.0.0").json()
    assert ann.upload(broken["uploadUrl"], BUNDLE[::-1]).status == 200
    assert ann.confirm(broken["versionId"]).status == 400
    assert ann.publish("ann/clock", "2.0.0").status == 409
    assert ann.request("ann/clock", "x").status == 400

    late = ann.request("ann/clock", "8.0.0").json()
    assert ann.upload(late["uploadUrl"], BUNDLE).status == 200
    assert ann.upload(broken["uploadUrl"], BUNDLE).status == 200
    assert ann.confirm(broken["versionId"]).status == 200
    assert_refused(ann.confirm(late["versionId"]), "At most 4 versions", 3600)
    shown = strict.site.get("/api/v1/widgets/ann/clock").json()["versions"]
    assert {it["version"] for it in shown} == {"1.0.0", "2.0.0", "2.1.0", "2.2.0", "9.0.0"}
    # Confirming again is not counted.
    assert ann.confirm(broken["versionId"]).status == 200


def test_new_widgets_are_limited_by_the_day_and_versions_of_old_ones_are_not(
    strict: People,
) -> None:
    assert [strict.ann.publish(f"ann/new-{i}").status for i in range(2)] == [200, 200]

    refused = strict.ann.request("ann/new-2")

    assert_refused(refused, "At most 2 new widgets can be published in 24 hours.", 86_400)
    assert strict.ann.publish("ann/new-1", "1.1.0").status == 200


def test_bytes_are_limited_by_the_day_and_the_manifest_counts(strict: People) -> None:
    js = BUNDLE * 100
    assert strict.ann.publish("ann/clock", "2.0.0", js).status == 200
    assert strict.ann.publish("ann/clock", "2.1.0", js).status == 200

    refused = strict.ann.request("ann/clock", "2.2.0", js)

    manifest = len(request_body("ann/clock", "2.2.0", js)["manifestJson"])
    assert_refused(
        refused,
        "At most 20,000 bytes can be published in 24 hours, and this version has "
        f"{len(js) + manifest:,}. Try again in 24 hours, or ask the operator",
        86_400,
    )
    assert strict.ann.publish("ann/clock", "2.2.0").status == 200
    huge = strict.ann.request("ann/clock", "2.3.0", BUNDLE * 400)
    assert "Make it smaller, or ask the operator" in huge.json()["error"]


def test_changes_to_widgets_are_limited_by_the_hour_whatever_is_changed(strict: People) -> None:
    ann, version = strict.ann, "/api/widgets/ann/clock/versions/1.0.0"
    reason = {"reason": "It shows the wrong time."}
    assert ann.post(f"{version}/yank", reason).status == 200
    strict.clock.forward(minutes=1)
    assert ann.post("/api/widgets/ann/clock/unlist", {}).status == 200
    # Requests that change nothing, or fail, are not counted.
    assert ann.post(f"{version}/yank", reason).status == 200
    assert ann.post("/api/widgets/ann/nothing/unlist", {}).status == 404
    assert ann.post("/api/widgets/ann/clock/list", {}).status == 200

    for path, body in (
        (f"{version}/unyank", {}),
        (f"{version}/deprecate", {"message": "Old."}),
        ("/api/widgets/ann/clock/unlist", {}),
    ):
        refused = ann.post(path, body)
        assert_refused(refused, "At most 3 changes to widgets can be made in an hour:", 59 * 60)
    assert ann.post(f"{version}/yank", reason).status == 200
    strict.clock.forward(minutes=59)
    assert ann.post(f"{version}/unyank", {}).status == 200
    assert ann.post("/api/widgets/ann/clock/unlist", {}).status == 429


def test_operators_may_change_as_much_as_they_like(strict: People) -> None:
    for _ in range(4):
        for change in ("unlist", "list"):
            assert strict.olly.post(f"/api/widgets/ann/clock/{change}", {}).status == 200


def test_open_requests_are_limited_and_end_by_themselves(strict: People) -> None:
    first = strict.ann.request("ann/clock", "2.0.0").json()
    strict.clock.forward(minutes=20)
    assert strict.ann.request("ann/clock", "2.1.0").status == 200
    strict.clock.forward(minutes=15)

    refused = strict.ann.request("ann/clock", "2.2.0")

    assert_refused(refused, "You have 2 requests to publish", 25 * 60)
    assert (
        "try again in 25 minutes: a request ends an hour after it was made."
        in refused.json()["error"]
    )

    strict.ann.upload(first["uploadUrl"], BUNDLE)
    assert strict.ann.confirm(first["versionId"]).status == 200
    assert strict.ann.request("ann/clock", "2.2.0").status == 200
    strict.clock.forward(hours=1)
    assert strict.ann.request("ann/clock", "2.3.0").status == 200


def test_at_the_limit_a_request_for_the_same_version_replaces_the_older_one(
    strict: People,
) -> None:
    first = strict.ann.request("ann/clock", "2.0.0").json()
    other = strict.ann.request("ann/clock", "2.1.0").json()

    again = strict.ann.request("ann/clock", "2.0.0")

    assert again.status == 200
    assert strict.ann.confirm(first["versionId"]).status == 404
    for answer in (again.json(), other):
        assert strict.ann.upload(answer["uploadUrl"], BUNDLE).status == 200
        assert strict.ann.confirm(answer["versionId"]).status == 200


def test_operators_have_no_quotas(strict: People) -> None:
    olly = strict.olly

    assert [create(olly, f"olly-{i}").status for i in range(4)] == [201] * 4
    assert [olly.publish(f"olly/w{i}", js=BUNDLE * 80).status for i in range(6)] == [200] * 6
    assert [olly.request("olly/w0", f"2.{i}.0").status for i in range(4)] == [200] * 4


def test_a_quota_survives_a_restart(built_people: BuiltPeople, tmp_path: Path) -> None:
    with People(built_people, tmp_path / "one", **QUOTAS) as people:
        people.clock.forward(days=2)
        assert [people.ann.publish("ann/clock", f"2.{i}.0").status for i in range(4)] == [200] * 4
        built = BuiltPeople(people.site.settings.data, built_people.headers)
        now = people.clock.at
    with People(built, tmp_path / "two", **QUOTAS) as people:
        people.clock.at = now
        assert people.ann.request("ann/clock", "3.0.0").status == 429


def test_organizations_are_limited_however_one_comes_to_own_them(strict: People) -> None:
    ann, eve = strict.ann, strict.eve  # ann already owns acme.
    assert create(ann, "second").status == 201
    owned = "ann owns 2 organizations, and at most 2 are allowed."
    assert_refused(create(ann, "third"), owned, 86_400)
    assert create(eve, "third").status == 201
    assert create(eve, "fourth").status == 201

    # Becoming an owner counts as well: by a role, a transfer or an invitation.
    assert join(eve, ann, "third").status == 200
    made = eve.put("/api/organizations/third/members/ann", {"role": "owner"})
    assert_refused(made, owned, 86_400)
    given = eve.post("/api/organizations/third/transfer", {"username": "ann"})
    assert_refused(given, owned, 86_400)
    assert_refused(join(eve, ann, "fourth", "owner"), owned, 86_400)
    invited = ann.get("/api/invitations").json()["invitations"]
    assert [it["organization"] for it in invited] == ["fourth"]

    # After giving one up, another is allowed.
    assert ann.post("/api/organizations/acme/transfer", {"username": "abe"}).status == 200
    assert ann.post(f"/api/invitations/{invited[0]['id']}/accept").status == 200
    assert_refused(create(ann, "fifth"), owned, 86_400)
    assert strict.site.get("/api/widgets/third/registry.json").status == 404


def test_uploads_of_one_address_at_a_time_are_limited(
    strict: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "_MAX_UPLOADS", 2)
    urls = [
        strict.ann.request("ann/clock", f"2.{i}.0").json()["uploadUrl"].partition(".example")[2]
        for i in range(2)
    ]
    urls.append(
        strict.abe.request("acme/clock", "2.0.0").json()["uploadUrl"].partition(".example")[2]
    )
    came = asyncio.Event()

    class Slow:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield BUNDLE[:10]
            await came.wait()
            yield BUNDLE[10:]

    async def put(url: str, client: str = "[2001:db8::1]:9") -> Reply:
        path, _, query = url.partition("?")
        request = PlainRequest("PUT", path, query, {}, client)
        return Reply(await strict.site._worker.handle(request, Slow()))

    async def all_at_once() -> tuple[Reply, Reply, list[Reply]]:
        running = [asyncio.ensure_future(put(url)) for url in urls[:2]]
        await asyncio.sleep(0.2)
        refused = await put(urls[2], "[2001:db8::ffff]:9")
        other = asyncio.ensure_future(put(urls[2], "192.0.2.1:9"))
        await asyncio.sleep(0.2)
        came.set()
        return refused, await other, [await it for it in running]

    refused, other, finished = strict.site._loop.run_until_complete(all_at_once())

    assert [it.status for it in (other, *finished)] == [200, 200, 200]
    assert_refused(refused, "At most 2 files can be uploaded from your address at a time.", 5)
    # All slots are free again.
    assert strict.ann.upload(f"https://catalog.example{urls[0]}", BUNDLE).status == 200


def test_a_detail_cannot_grow_without_end(built_people: BuiltPeople, tmp_path: Path) -> None:
    notes = "é" * 10_000
    with People(built_people, tmp_path / "data", max_document_bytes=65_536) as people:
        ann = people.ann
        early = ann.request("ann/clock", "8.0.0", releaseNotes=notes).json()
        ann.upload(early["uploadUrl"], BUNDLE)
        for i in range(2):
            assert ann.publish("ann/clock", f"2.{i}.0", releaseNotes=notes).status == 200
        assert ann.confirm(early["versionId"]).status == 200
        size = len(people.site.get("/api/v1/widgets/ann/clock").body)

        refused = ann.request("ann/clock", "2.2.0", releaseNotes=notes)
        checked = ann.post(
            "/api/widgets/publish",
            request_body("ann/clock", "2.2.0", action="check", releaseNotes=notes),
        )
        late = [ann.request("ann/clock", f"3.{i}.0", releaseNotes="x" * 1_500) for i in range(2)]
        for answer in late:
            ann.upload(answer.json()["uploadUrl"], BUNDLE)
        confirmed = [ann.confirm(it.json()["versionId"]) for it in late]

        assert (refused.status, checked.status) == (400, 400)
        told = refused.json()["error"]
        assert told.startswith("With this version, the detail of ann/clock would have 8")
        assert "and at most 65,536 are allowed: all its 5 versions" in told
        assert "Shorten the release notes" in told
        assert "a new widget name" in told
        assert 60_000 < size < 65_536
        assert [it.status for it in confirmed] == [200, 400]
        assert "65,536 are allowed" in confirmed[1].json()["error"]
        assert len(people.site.get("/api/v1/widgets/ann/clock").body) < 66_000
        assert ann.publish("ann/clock", "2.2.0", releaseNotes="Short.").status == 200
        assert ann.publish("ann/other", "1.0.0", releaseNotes=notes).status == 200


def test_two_megabytes_are_the_bound_by_default(people: People) -> None:
    assert people.site.settings.of(CatalogSettings).max_document_bytes == 2 << 20
    assert json.loads(people.site.get("/api/v1/widgets/ann/clock").body)["latestVersion"]
