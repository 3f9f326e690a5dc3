"""Write-once: published data never changes, whoever tries and whenever."""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from support.people import BUNDLE, request_body
from support.site_with_people import People
from widget_catalog.accounts.store import get_account
from widget_catalog.catalog.replica.encoding import prepare
from widget_catalog.core.actors import Actor, Via
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import Conflict, InvalidRequest, StoreUnavailable
from widget_catalog.core.files.contract import Kind
from widget_catalog.core.files.local import LocalBundles, LocalUploads
from widget_catalog.publishing.publish_version import publish_version, tidy_uploads
from widget_catalog.publishing.request_version import request_version

EVIL = BUNDLE[::-1]
ADDRESS = "/cdn/@ann/new/1.0.0/index.js"


def requested(people: People, key: str = "ann/new", version: str = "1.0.0") -> dict[str, str]:
    response = people.ann.request(key, version)
    assert response.status == 200, response.body
    body: dict[str, str] = response.json()
    assert people.ann.upload(body["uploadUrl"], BUNDLE).status == 200
    return body


def actor_of(people: People, name: str = "ann") -> Actor:
    with people.site.node.store.reading() as connection:
        return Actor(via=Via.SESSION, account=get_account(connection, name))


def bundles_of(people: People) -> dict[str, bytes]:
    folder = people.site.node.folder.bundles
    return {it.name: it.read_bytes() for it in folder.rglob("*") if it.is_file()}


def versions_of(people: People, key: str = "ann/new") -> list[str]:
    response = people.site.get(f"/api/v1/widgets/{key}")
    if response.status == 404:
        return []
    return [it["version"] for it in response.json()["versions"]]


def all_at_once(work: list[Callable[[], Any]]) -> list[Any]:
    """What each returned or raised, when all start at the same moment."""
    gate = threading.Barrier(len(work))

    def run(one: Callable[[], Any]) -> Any:
        gate.wait(30)
        try:
            return one()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(work)) as threads:
        return list(threads.map(run, work))


def test_the_upload_address_is_worth_nothing_after_the_confirmation(people: People) -> None:
    body = requested(people)
    people.ann.confirm(body["versionId"])
    before = bundles_of(people)

    for content in (EVIL, BUNDLE, b""):
        response = people.ann.upload(body["uploadUrl"], content)
        assert (response.status, response.json()) == (
            409,
            {"error": "This version is published: nothing more can be uploaded for it."},
        )

    assert people.ann.confirm(body["versionId"]).status == 200
    assert bundles_of(people) == before
    assert people.site.get(ADDRESS).body == BUNDLE
    assert list(people.site.node.folder.uploads.iterdir()) == []


def test_an_upload_that_began_before_the_confirmation_changes_nothing(people: People) -> None:
    """It is accepted, then the version is confirmed, then its last bytes arrive."""
    body = requested(people)
    node = people.site.node
    actor = actor_of(people)
    upload = node.uploads.receive(body["versionId"], "index.js", len(BUNDLE))
    upload.write(EVIL[:10])
    publish_version(node.store, node.bundles, node.uploads, actor, body["versionId"])
    upload.write(EVIL[10:])
    upload.finish()

    assert people.site.get(ADDRESS).body == BUNDLE
    assert people.ann.confirm(body["versionId"]).status == 200
    assert people.site.get(ADDRESS).body == BUNDLE
    # A late upload stays until the request expires, and is removed with it.
    people.clock.forward(hours=1)
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert list(node.folder.uploads.iterdir()) == []
    assert people.site.get(ADDRESS).body == BUNDLE


def test_of_confirmations_that_race_all_get_the_same_response_and_one_publishes(
    people: People,
) -> None:
    body, node, actor = requested(people), people.site.node, actor_of(people)

    def confirm() -> Any:
        request = publish_version(node.store, node.bundles, node.uploads, actor, body["versionId"])
        return request.id

    assert all_at_once([confirm] * 8) == [body["versionId"]] * 8
    assert versions_of(people) == ["1.0.0"]
    assert people.ann.get("/api/widgets/ann/new/audit").json()["total"] == 1


def test_a_confirmation_that_finds_its_files_taken_by_its_twin_succeeds(people: People) -> None:
    """The duplicate completes between the check of the request and the check of the files."""
    body, node, actor = requested(people), people.site.node, actor_of(people)

    class TakenMeanwhile(LocalUploads):
        def open(self, request_id: str, path: str, most_bytes: int) -> BinaryIO:
            publish_version(node.store, node.bundles, node.uploads, actor, request_id)
            return super().open(request_id, path, most_bytes)

    uploads = TakenMeanwhile(node.folder.uploads)
    request = publish_version(node.store, node.bundles, uploads, actor, body["versionId"])

    assert request.id == body["versionId"]
    assert request.confirmed_at is not None
    assert people.ann.get("/api/widgets/ann/new/audit").json()["total"] == 1


def test_of_requests_for_the_same_version_one_is_published(people: People) -> None:
    """With different bytes, by people who both may: the first has it, and nothing is mixed."""
    node = people.site.node
    work: list[Callable[[], Any]] = []
    contents = {}
    for i, name in enumerate(["ann", "abe"] * 4):
        js = BUNDLE + b"// %d\n" % i
        person = getattr(people, name)
        asked = person.request("acme/raced", f"1.0.0+b{i}", js).json()
        assert person.upload(asked["uploadUrl"], js).status == 200
        contents[f"1.0.0+b{i}"] = js
        given = (node.store, node.bundles, node.uploads, actor_of(people, name))
        work.append(partial(publish_version, *given, asked["versionId"]))

    outcomes = all_at_once(work)

    assert sum(isinstance(it, Conflict) for it in outcomes) == 7, outcomes
    (number,) = versions_of(people, "acme/raced")
    assert people.site.get(f"/cdn/@acme/raced/{number}/index.js").body == contents[number]
    losers = {hashlib.sha256(it).hexdigest()[2:] for key, it in contents.items() if key != number}
    assert not losers & {name.removesuffix(".js") for name in bundles_of(people)}


def test_two_versions_at_once_are_both_published(people: People) -> None:
    node, actor = people.site.node, actor_of(people)
    ids = [requested(people, version=f"1.{i}.0")["versionId"] for i in range(6)]

    given = (node.store, node.bundles, node.uploads, actor)
    outcomes = all_at_once([partial(publish_version, *given, id_) for id_ in ids])

    assert [it.id for it in outcomes] == ids
    assert sorted(versions_of(people)) == [f"1.{i}.0" for i in range(6)]


def test_bytes_that_are_swapped_between_check_and_copy_are_not_published(people: People) -> None:
    body, node = requested(people), people.site.node
    # Nobody else has published these bytes, so they must really be copied.
    js = BUNDLE + b"// mine\n"
    asked = people.ann.request("ann/new", "2.0.0", js).json()
    people.ann.upload(asked["uploadUrl"], js)
    before = bundles_of(people)

    class Swapping(LocalBundles):
        """The holder of the upload URL replaces the file after the hash, before the copy."""

        def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
            Path(source.name).write_bytes(js[::-1])
            return super().put(source, sha256_hash, kind)

    bundles = Swapping(node.folder.bundles)
    with pytest.raises(InvalidRequest) as refused:
        publish_version(node.store, bundles, node.uploads, actor_of(people), asked["versionId"])

    assert str(refused.value) == (
        "The bundle was replaced while it was checked. Nothing was published."
    )
    assert versions_of(people) == []
    assert bundles_of(people) == before
    assert people.site.get("/cdn/@ann/new/2.0.0/index.js").status == 404
    # An honest client uploads the file again, and the other request is unaffected.
    people.ann.upload(asked["uploadUrl"], js)
    assert people.ann.confirm(asked["versionId"]).status == 200
    assert people.site.get("/cdn/@ann/new/2.0.0/index.js").body == js
    assert people.ann.confirm(body["versionId"]).status == 200


def test_a_swap_where_the_bytes_are_known_already_publishes_the_known_ones(
    people: People,
) -> None:
    body, node = requested(people), people.site.node

    class Swapping(LocalBundles):
        def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
            Path(source.name).write_bytes(EVIL)
            return super().put(source, sha256_hash, kind)

    bundles = Swapping(node.folder.bundles)
    publish_version(node.store, bundles, node.uploads, actor_of(people), body["versionId"])

    assert people.site.get(ADDRESS).body == BUNDLE


def test_a_file_that_vanishes_between_check_and_copy_is_published_as_it_was_checked(
    people: People,
) -> None:
    js, node = BUNDLE + b"// mine\n", people.site.node
    asked = people.ann.request("ann/new", "1.0.0", js).json()
    people.ann.upload(asked["uploadUrl"], js)

    class Vanishing(LocalBundles):
        def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
            Path(source.name).unlink()
            return super().put(source, sha256_hash, kind)

    bundles = Vanishing(node.folder.bundles)
    publish_version(node.store, bundles, node.uploads, actor_of(people), asked["versionId"])

    assert people.site.get(ADDRESS).body == js


def test_nobody_waits_while_the_bytes_are_stored(people: People) -> None:
    body, node = requested(people), people.site.node

    class Slow(LocalBundles):
        def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
            with node.store.writing(waits=False):
                return super().put(source, sha256_hash, kind)

    bundles = Slow(node.folder.bundles)
    publish_version(node.store, bundles, node.uploads, actor_of(people), body["versionId"])

    assert people.site.get(ADDRESS).body == BUNDLE


class Removing(LocalBundles):
    """A concurrent cleanup: this many times, files are removed right after they are stored."""

    def __init__(self, folder: Path, times: int) -> None:
        super().__init__(folder)
        self._times = times

    def put(self, source: BinaryIO, sha256_hash: str, kind: Kind = "js") -> bool:
        is_new = super().put(source, sha256_hash, kind)
        if self._times:
            self._times -= 1
            self.remove(sha256_hash, kind)
        return is_new


def test_bytes_that_were_removed_before_a_version_refers_to_them_are_stored_again(
    people: People,
) -> None:
    js, node = BUNDLE + b"// mine\n", people.site.node
    asked = people.ann.request("ann/new", "1.0.0", js).json()
    people.ann.upload(asked["uploadUrl"], js)

    given = (node.uploads, actor_of(people), asked["versionId"])
    with pytest.raises(StoreUnavailable, match="removed again and again"):
        publish_version(node.store, Removing(node.folder.bundles, 100), *given)
    assert versions_of(people) == []

    publish_version(node.store, Removing(node.folder.bundles, 1), *given)
    assert people.site.get(ADDRESS).body == js


def test_what_fails_after_the_copy_takes_the_copy_back(people: People) -> None:
    """The database fails at the very end; no unreferenced file is left."""
    js, node = BUNDLE + b"// mine\n", people.site.node
    asked = people.ann.request("ann/new", "1.0.0", js).json()
    people.ann.upload(asked["uploadUrl"], js)
    before = bundles_of(people)

    class Failing:
        prepare = staticmethod(prepare)

        def saving(self, highest_id: int) -> None:
            raise RuntimeError("at the end")

        def begin_copy(self, at_ms: int) -> None:
            raise AssertionError

        def committing(self, *_: object) -> None:
            """In the transaction that removes the copy."""

        def committed(self, *_: object) -> None:
            """Of the transaction that removes the copy."""

        def published(self, *_: object) -> None:
            raise AssertionError

        def close(self) -> None:
            pass

    store = Store(node.store.engine, node.folder.writer_lock, Failing(), people.clock)
    with pytest.raises(RuntimeError, match="at the end"):
        publish_version(store, node.bundles, node.uploads, actor_of(people), asked["versionId"])

    assert bundles_of(people) == before
    assert versions_of(people) == []
    assert people.ann.confirm(asked["versionId"]).status == 200
    assert people.site.get(ADDRESS).body == js


def test_published_files_cannot_be_written_to(people: People) -> None:
    for path in people.site.node.folder.bundles.rglob("*.js"):
        assert path.stat().st_mode & 0o777 == 0o444


def test_nothing_that_is_sent_changes_a_published_version(people: People) -> None:
    """By the person with most permissions in the scope, with every method at every URL."""
    before = people.site.get("/api/v1/widgets/ann/clock").body
    for method in ("PUT", "POST", "PATCH", "DELETE"):
        for path in (
            "/cdn/@ann/clock/1.0.0/index.js",
            "/api/v1/widgets/ann/clock",
            "/api/widgets/ann/clock",
            "/api/widgets/ann/clock/versions/1.0.0",
        ):
            # This one counts a download.
            if (method, path) != ("POST", "/api/v1/widgets/ann/clock"):
                assert people.ann.send(method, path, {"x": 1}).status in (404, 405)
    assert people.ann.request("ann/clock", "1.0.0", EVIL).status == 409

    assert people.site.get("/api/v1/widgets/ann/clock").body == before
    assert people.site.get("/cdn/@ann/clock/1.0.0/index.js").body == BUNDLE


def test_a_request_is_compared_with_what_is_published_when_it_is_confirmed(
    people: People,
) -> None:
    """The other one was published after this request was created."""
    late = requested(people)["versionId"]
    actor, node = actor_of(people), people.site.node
    other = request_version(node.store, actor, request_body("ann/new", "1.0.0+x"), 2_097_152)
    (node.folder.uploads / f"{other.id}.js").write_bytes(BUNDLE)
    assert people.ann.confirm(other.id).status == 200

    response = people.ann.confirm(late)

    assert (response.status, response.json()) == (
        409,
        {
            "error": "ann/new 1.0.0+x is already published. A published version never changes: "
            "choose another number."
        },
    )
    assert versions_of(people) == ["1.0.0+x"]
