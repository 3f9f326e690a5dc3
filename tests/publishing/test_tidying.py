"""Cleaning up after requests: nobody waits for it, and it never takes a published file."""

import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from publishing.publish_requests import files, local, rows, sha
from publishing.test_write_once import actor_of
from support.people import BUNDLE, with_token
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.catalog.store.files import list_marked
from widget_catalog.core.errors import BundlesDown
from widget_catalog.core.files.contract import Kind, Stored
from widget_catalog.core.files.local import LocalBundles
from widget_catalog.core.http.http import PlainRequest
from widget_catalog.publishing.publish_version import discard_pending, publish_version, tidy_uploads

JS = BUNDLE + b"// mine\n"
ADDRESS = "/cdn/@ann/new/1.0.0/index.js"


def killed_while_confirming(people: People) -> None:
    """An ended request whose confirmation stored its file, and was killed then."""
    asked = people.eve.request("eve/new", "1.0.0", JS).json()
    people.eve.upload(asked["uploadUrl"], JS)
    node = people.site.node
    with node.uploads.open(asked["versionId"], "index.js", len(JS)) as upload:
        node.bundles.put(upload, sha(JS))
    people.clock.forward(hours=1)


def uploaded(people: People, key: str = "ann/new") -> str:
    asked = people.ann.request(key, "1.0.0", JS).json()
    assert people.ann.upload(asked["uploadUrl"], JS).status == 200
    return str(asked["versionId"])


def marked(people: People) -> int:
    with people.site.node.store.reading() as connection:
        return len(list_marked(connection))


def test_nobody_waits_while_files_of_ended_requests_are_removed(people: People) -> None:
    killed_while_confirming(people)
    node, removed = people.site.node, []

    class Slow(LocalBundles):
        def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
            with node.store.publishing(waits=False):
                super().remove(sha256_hash, kind)
            removed.append(sha256_hash)

    tidy_uploads(node.store, Slow(node.folder.bundles), node.uploads)

    assert removed == [sha(JS)]
    assert (rows(people), files(people)["uploads"], marked(people)) == ([], [], 0)
    assert node.bundles.stat(sha(JS)) is None


def test_bytes_confirmed_while_they_are_removed_as_unused_are_stored_again(
    people: People,
) -> None:
    """The confirmation finds the file, but it is about to be removed."""
    killed_while_confirming(people)
    version_id, node = uploaded(people), people.site.node
    begun, stored = threading.Event(), threading.Event()

    class Slow(LocalBundles):
        def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
            begun.set()
            assert stored.wait(30)
            super().remove(sha256_hash, kind)

    def confirm() -> None:
        assert begun.wait(30)
        threading.Timer(0.2, stored.set).start()  # After its first attempt.
        publish_version(node.store, node.bundles, node.uploads, actor_of(people), version_id)

    with ThreadPoolExecutor() as threads:
        confirming = threads.submit(confirm)
        tidy_uploads(node.store, Slow(node.folder.bundles), node.uploads)
        confirming.result()

    assert people.site.get(ADDRESS).body == JS
    assert marked(people) == 0


def test_bytes_confirmed_before_they_are_removed_stay(people: People) -> None:
    killed_while_confirming(people)
    version_id, node = uploaded(people), people.site.node

    class Late(LocalBundles):
        """The cleanup has seen the file; it is published before the cleanup continues."""

        def stat(self, sha256_hash: str, kind: Kind = "js") -> Stored | None:
            found = super().stat(sha256_hash, kind)
            publish_version(node.store, node.bundles, node.uploads, actor_of(people), version_id)
            return found

    tidy_uploads(node.store, Late(node.folder.bundles), node.uploads)

    assert people.site.get(ADDRESS).body == JS
    assert rows(people) == []


def test_a_removal_that_failed_is_repeated_and_the_bytes_wait_for_it(people: People) -> None:
    killed_while_confirming(people)
    version_id, node = uploaded(people), people.site.node

    class Failing(LocalBundles):
        def remove(self, _sha256_hash: str, _kind: Kind = "js") -> None:
            raise BundlesDown

    with pytest.raises(BundlesDown):
        tidy_uploads(node.store, Failing(node.folder.bundles), node.uploads)
    assert marked(people) == 1
    tidy_uploads(node.store, node.bundles, node.uploads)
    refused = people.ann.confirm(version_id)
    assert refused.status == 503

    people.clock.forward(minutes=15)
    tidy_uploads(node.store, node.bundles, node.uploads)

    assert marked(people) == 0
    assert people.ann.confirm(version_id).status == 200
    assert people.site.get(ADDRESS).body == JS


@pytest.fixture
def strict(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data", max_open_requests=2) as people:
        yield people


def test_an_upload_is_refused_once_its_request_has_been_replaced(strict: People) -> None:
    ann = strict.ann
    urls = [ann.request("ann/new", version).json()["uploadUrl"] for version in ("1.0.0", "2.0.0")]
    urls.append(ann.request("ann/new", "1.0.0").json()["uploadUrl"])

    responses = [ann.upload(url, BUNDLE) for url in urls]

    assert [it.status for it in responses] == [404, 200, 200]
    assert responses[0].json() == {"error": "This request has ended. Request a new one."}
    assert len(files(strict)["uploads"]) == 2


def test_an_upload_that_began_before_its_request_ended_is_not_kept(strict: People) -> None:
    first, node = strict.ann.request("ann/new", "1.0.0").json(), strict.site.node

    class Interrupted:
        """Sent while the request is discarded."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield BUNDLE[:10]
            discard_pending(node.store, node.uploads, actor_of(strict), first["versionId"])
            yield BUNDLE[10:]

    path, _, query = local(first["uploadUrl"]).partition("?")
    request = PlainRequest("PUT", path, query, {}, "127.0.0.1:1")
    responding = strict.site._worker.handle(request, Interrupted())

    response = Reply(strict.site._loop.run_until_complete(responding))

    assert response.status == 404
    assert files(strict)["uploads"] == []


def test_replaced_and_discarded_requests_count_for_an_hour(strict: People) -> None:
    """However a request ended, an upload URL of an object store stays valid."""
    for person in (strict.ann, with_token(strict.ann)):
        assert [person.request("ann/new", "1.0.0").status for _ in range(2)] == [200, 200]
        strict.clock.forward(minutes=10)

    refused = strict.ann.request("ann/new", "1.0.0")

    assert (refused.status, refused.headers["retry-after"]) == (429, str(40 * 60))
    assert refused.json()["error"].startswith(
        "You have made 4 requests to publish in the last hour that were not confirmed, which is "
        "the limit. Try again in 40 minutes"
    )
    assert len(rows(strict)) == 4
    assert [it.manifest != "" for it in rows(strict)].count(True) == 2
    node = strict.site.node
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert strict.ann.request("ann/new", "1.0.0").status == 429
    strict.clock.forward(minutes=40)
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert len(rows(strict)) == 2
    assert strict.ann.request("ann/new", "1.0.0").status == 200
