"""Nodes with bundles in an object store: uploaded there, verified here, served from a cache."""

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from support.commands import widget_catalog
from support.nodes import RunningNode, Traveller, a_node, environment_of
from support.people import PASSWORD, announce, manifest, request_body
from support.pictures import a_picture
from support.relay import Relay
from support.s3 import BUCKET, SECRET, ObjectStoreServer, object_store, settings_of
from support.service import Service, run_command, wait_for
from support.site import SECRET_KEY
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.files.s3_client import Bucket
from widget_catalog.core.settings import settings_from
from widget_catalog.publishing.publish_version import tidy_uploads
from widget_catalog.publishing.store import PublishRequest, publish_requests

JS = b"export function mount() {}\n" * 100


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStoreServer]:
    made = ObjectStoreServer(tmp_path_factory.mktemp("store"))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory,
    database: str,
    server: ObjectStoreServer,
) -> Iterator[list[RunningNode]]:
    folder = tmp_path_factory.mktemp("nodes")
    settings = settings_of(server.port)
    done = run_command(
        *("account", "create", "ann", "--email", "ann@example.org", "--password-stdin"),
        *("--data", str(folder / "command")),
        stdin=PASSWORD.encode(),
        environment=environment_of(database, **settings),
    )
    assert done.returncode == 0, done.stderr
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(a_node(folder / name, database, **settings))
            for name in ("one", "two")
        ]


def bundle_url(version: str) -> str:
    return f"/cdn/@ann/clock/{version}/index.js"


def test_a_file_is_uploaded_to_the_store_and_served_by_every_node(
    nodes: list[RunningNode], ann: Traveller, server: ObjectStoreServer
) -> None:
    one, two = nodes
    body = request_body("ann/clock", "1.0.0", JS)
    requested = ann.post(one, "/api/widgets/publish", body).json()
    url = requested["uploadUrl"]
    assert url.startswith(f"http://127.0.0.1:{server.port}/{BUCKET}/nodes/uploads/")

    # The size is part of the signature.
    assert httpx.put(url, content=JS + b"x", timeout=60).status_code == 403
    assert httpx.put(url, content=JS, timeout=60).status_code == 200
    confirm = {"action": "confirm", "versionId": requested["versionId"]}
    assert ann.post(two, "/api/widgets/publish", confirm).status_code == 200

    digest = hashlib.sha256(JS).hexdigest()
    assert server.keys() == [f"bundles/{digest[:2]}/{digest[2:]}.js"]
    # The holder of the URL can no longer change anything.
    assert httpx.put(url, content=JS[::-1], timeout=60).status_code == 200
    wait_for(lambda: one.client.get("/api/v1/widgets/ann/clock").status_code == 200)
    for node in nodes:
        found = node.client.get(bundle_url("1.0.0"))
        assert (found.status_code, found.content) == (200, JS)
        part = node.client.get(bundle_url("1.0.0"), headers={"range": "bytes=7-14"})
        assert (part.status_code, part.content) == (206, JS[7:15])
        assert node.client.get("/api/health").json()["checks"]["bundles"] == "ok"


def test_other_files_are_uploaded_to_the_store_and_served_by_every_node(
    nodes: list[RunningNode], ann: Traveller, server: ObjectStoreServer
) -> None:
    one, two = nodes
    files = {"README.md": b"# Pictures", "screenshots/a.png": a_picture("png", 900, 300)}
    body = request_body("ann/pictures", "1.0.0", JS) | {"files": announce(files)}
    requested = ann.post(one, "/api/widgets/publish", body).json()
    for path, content in files.items():
        url = requested["uploadUrls"][path]
        assert url.startswith(f"http://127.0.0.1:{server.port}/{BUCKET}/nodes/uploads/")
        assert httpx.put(url, content=content + b"x", timeout=60).status_code == 403
        assert httpx.put(url, content=content, timeout=60).status_code == 200
    assert httpx.put(requested["uploadUrl"], content=JS, timeout=60).status_code == 200

    confirm = {"action": "confirm", "versionId": requested["versionId"]}
    assert ann.post(two, "/api/widgets/publish", confirm).status_code == 200

    assert f"uploads/{requested['versionId']}" not in " ".join(server.keys())
    address = "/api/v1/widgets/ann/pictures/1.0.0"
    wait_for(lambda: one.client.get(address).status_code == 200)
    shown = {it["path"]: it for it in one.client.get(address).json()["files"]}
    assert list(shown) == ["index.js", *files, "screenshots/a.thumb.webp"]
    for node in nodes:
        for path, file in shown.items():
            found = node.client.get(f"/cdn/@ann/pictures/1.0.0/{path}")
            assert found.status_code == 200
            assert hashlib.sha256(found.content).hexdigest() == file["sha256Hash"]
        assert "# Pictures" not in (page := node.client.get("/widgets/ann/pictures").text)
        assert "Pictures" in page


def test_a_form_is_sent_to_one_node_previewed_and_confirmed_at_another(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one, two = nodes
    said = json.dumps(manifest("timer")).encode()
    form = {"manifest": ("widget.json", said), "bundle": ("index.js", JS)}

    sent = one.client.post("/account/publish", files=form, headers=ann.headers)

    assert sent.status_code == 303, sent.text
    place = sent.headers["location"]
    assert ann.get(two, f"{place}/index.js").content == JS
    confirmed = two.client.post(place, headers=ann.headers)
    assert confirmed.headers["location"].startswith("/account/widgets/ann/timer"), confirmed.text
    assert two.client.get("/cdn/@ann/timer/1.0.0/index.js").content == JS


def test_what_is_not_what_was_announced_is_not_published(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    body = request_body("ann/clock", "1.0.1", JS)
    requested = ann.post(nodes[0], "/api/widgets/publish", body).json()
    confirm = {"action": "confirm", "versionId": requested["versionId"]}

    early = ann.post(nodes[0], "/api/widgets/publish", confirm)
    httpx.put(requested["uploadUrl"], content=JS[::-1], timeout=60)
    other = ann.post(nodes[0], "/api/widgets/publish", confirm)

    assert (early.status_code, other.status_code) == (400, 400)
    assert "not uploaded" in early.json()["error"]
    assert "SHA-256" in other.json()["error"]
    assert nodes[0].client.get(bundle_url("1.0.1")).status_code == 404


def test_nobody_waits_while_many_ended_requests_are_cleaned_up(
    tmp_path: Path,
    nodes: list[RunningNode],
    ann: Traveller,
    database: str,
    server: ObjectStoreServer,
) -> None:
    """In another process, with a store that takes 20 ms for every request."""
    ended = [_ended_request(number) for number in range(200)]
    engine = sa.create_engine(f"postgresql+psycopg://{database.partition('://')[2]}")
    with engine.begin() as connection:
        connection.execute(sa.insert(publish_requests), ended)
    client = Bucket(object_store(server.port))._client
    for request in ended:
        client.put_object(Bucket=BUCKET, Key=f"nodes/uploads/{request['id']}.js", Body=b"x")
        # Half of them were killed while they were confirmed.
        if int(request["id"][1:]) % 2:
            name = f"{request['sha256_hash'][:2]}/{request['sha256_hash'][2:]}.js"
            client.put_object(Bucket=BUCKET, Key=f"nodes/bundles/{name}", Body=b"x")
    with Relay(("127.0.0.1", server.port), delay_s=0.02) as relay:
        settings: dict[str, Any] = {**settings_of(relay.port), "s3_path_style": True}
        given = {"data": tmp_path, "database": database, "secret_key": SECRET_KEY, **settings}
        backends = settings_from(given).backends
        with ThreadPoolExecutor() as threads:
            node = prepare_node(tmp_path / "tidier", backends=backends)
            tidying = threads.submit(tidy_uploads, node.store, node.bundles, node.uploads)
            statuses: list[int] = []
            while not tidying.done() or len(statuses) < 3:
                number = len(statuses)
                js = JS + b"// %d" % number
                response = ann.publish("ann/clock", f"7.0.{number}", js, nodes[number % 2])
                statuses.append(response.status_code)
            tidying.result()
        node.store.close()

    assert set(statuses) == {200}, statuses
    left = " ".join(server.keys())
    assert "uploads/r" not in left
    assert not any(it["sha256_hash"][2:] in left for it in ended)
    with engine.connect() as connection:
        ids = set(connection.execute(sa.select(publish_requests.c.id)).scalars())
    engine.dispose()
    assert ids.isdisjoint({it["id"] for it in ended})


def test_what_is_on_the_disk_of_a_node_is_served_while_the_store_is_down(
    nodes: list[RunningNode], ann: Traveller, server: ObjectStoreServer
) -> None:
    one, two = nodes
    js = JS + b"// another\n"
    assert ann.publish("ann/clock", "1.1.0", js, one).status_code == 200
    wait_for(lambda: two.client.get(bundle_url("1.1.0")).status_code == 200)
    body = request_body("ann/clock", "1.2.0", JS)
    requested = ann.post(one, "/api/widgets/publish", body).json()

    server.stop()
    try:
        assert two.client.get(bundle_url("1.1.0")).content == js
        assert two.client.get("/api/v1/widgets/search?q=clock").status_code == 200
        missing = one.client.get(bundle_url("1.1.0"))
        assert (missing.status_code, missing.headers["retry-after"]) == (503, "5")
        confirm = {"action": "confirm", "versionId": requested["versionId"]}
        refused = ann.post(one, "/api/widgets/publish", confirm)
        assert refused.status_code == 503
        assert "store of the bundles cannot be reached" in refused.json()["error"]
        assert str(server.port) not in refused.text
        wait_for(lambda: one.client.get("/api/health").status_code == 503, 30)
        assert one.client.get("/api/health").json()["checks"]["bundles"] == "failing"
        assert "The object store does not answer." in one.service.log
        unrequested = ann.post(one, "/api/widgets/publish", request_body("ann/clock", "1.3.0", JS))
        assert (unrequested.status_code, unrequested.headers["retry-after"]) == (503, "5")
        assert "store of the bundles cannot be reached" in unrequested.json()["error"]
    finally:
        server.start()

    assert one.client.get(bundle_url("1.1.0")).content == js
    wait_for(lambda: all(it.client.get("/api/health").status_code == 200 for it in nodes))
    assert "The object store answers again." in one.service.log
    assert ann.publish("ann/clock", "1.3.0", JS, one).status_code == 200


def test_a_damaged_bundle_in_the_cache_of_a_node_is_fetched_again(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one = nodes[0]
    js = JS + b"// cached\n"
    assert ann.publish("ann/cached", "1.0.0", js, one).status_code == 200
    url = "/cdn/@ann/cached/1.0.0/index.js"
    as_it_is = {"accept-encoding": "identity"}
    assert one.client.get(url, headers=as_it_is).content == js
    (cached,) = [it for it in one.service.data.glob("bundle-cache/??/*") if it.read_bytes() == js]
    cached.write_bytes(js[:-2] + b"!\n")

    served = one.client.get(url, headers=as_it_is)

    assert (served.status_code, served.content) == (200, js)
    assert "A cached bundle was damaged; it is fetched again." in one.service.log
    assert one.client.get("/api/health").status_code == 200


def test_a_bundle_that_is_damaged_in_the_store_is_refused_until_it_is_intact(
    nodes: list[RunningNode], ann: Traveller, database: str, server: ObjectStoreServer
) -> None:
    one, two = nodes
    js = JS + b"// damaged in the store\n"
    assert ann.publish("ann/damaged", "1.0.0", js, two).status_code == 200
    name = hashlib.sha256(js).hexdigest()
    (stored,) = server.folder.rglob(f"{name[2:]}.js")
    wait_for(lambda: one.client.get("/api/v1/widgets/ann/damaged").status_code == 200)

    def get() -> httpx.Response:
        url = "/cdn/@ann/damaged/1.0.0/index.js"
        return one.client.get(url, headers={"accept-encoding": "identity"})

    def run_doctor() -> int:
        environment = environment_of(database, **settings_of(server.port))
        return widget_catalog("doctor", "--data", one.service.data, environment=environment).code

    server.replace(stored, js[:-2] + b"!\n")
    assert get().status_code == 503
    assert f"bundles/{name[:2]}/{name[2:]}.js is damaged in the object store." in one.service.log
    assert one.client.get("/healthz/ready").status_code == 200
    assert run_doctor() == 1

    server.replace(stored, js)
    assert get().content == js
    assert run_doctor() == 0


def test_a_bundle_is_compressed_once_and_served_so_by_every_node(
    nodes: list[RunningNode], ann: Traveller, server: ObjectStoreServer
) -> None:
    js = JS + b"// compressed\n"
    assert ann.publish("ann/compressed", "1.0.0", js, nodes[0]).status_code == 200
    url, name = "/cdn/@ann/compressed/1.0.0/index.js", hashlib.sha256(js).hexdigest()[2:]

    def is_compressed(node: RunningNode) -> bool:
        found = node.client.get(url, headers={"accept-encoding": "br"})
        assert (found.status_code, found.content) in ((200, js), (404, found.content))
        return bool(found.headers.get("content-encoding") == "br")

    wait_for(lambda: all(map(is_compressed, nodes)))
    assert sorted(it[-3:] for it in server.forms() if name in it) == [".br", ".gz", "zst"]

    # Damaged in the store, and not in the cache of any node.
    (stored,) = server.folder.rglob(f"{name}.js.br")
    original = stored.read_bytes()
    server.replace(stored, original[:-5] + b"wrong")
    for node in nodes:
        for cached in node.service.data.glob(f"bundle-cache/??/{name}.js*"):
            cached.unlink()
    assert nodes[1].client.get(url, headers={"accept-encoding": "br"}).content == js
    wait_for(lambda: all(map(is_compressed, nodes)))
    assert stored.read_bytes() == original


def test_a_node_that_is_started_while_the_store_is_down_serves_what_it_has(
    nodes: list[RunningNode], ann: Traveller, database: str, server: ObjectStoreServer
) -> None:
    two = nodes[1]
    assert ann.publish("ann/clock", "1.4.0", JS, two).status_code == 200
    assert two.client.get(bundle_url("1.4.0")).content == JS
    assert two.service.stop() == 0
    server.stop()
    environment = environment_of(database, **settings_of(server.port))
    restarted = Service(two.service.data, port=two.service.port, environment=environment)
    try:
        assert "Warning: The bundles at s3://" in restarted.log
        assert SECRET not in restarted.log
        assert two.client.get(bundle_url("1.4.0")).content == JS
        assert two.client.get("/api/v1/widgets/ann/clock").json()["latestVersion"] == "1.4.0"
        assert two.client.get("/healthz/ready").status_code == 200
        wait_for(lambda: two.client.get("/api/health").json()["checks"]["bundles"] == "failing")
        body = request_body("ann/clock", "1.5.0", JS)
        refused = ann.post(two, "/api/widgets/publish", body)
        assert refused.status_code == 503
        assert "store of the bundles cannot be reached" in refused.json()["error"]

        server.start()

        wait_for(lambda: two.client.get("/api/health").status_code == 200)
        assert ann.publish("ann/clock", "1.6.0", JS, two).status_code == 200
    finally:
        restarted.kill()


def test_commands_find_the_bundles_there(
    nodes: list[RunningNode], database: str, server: ObjectStoreServer, tmp_path: Path
) -> None:
    environment = environment_of(database, **settings_of(server.port))
    data = ("--data", tmp_path / "data")
    (tmp_path / "out").mkdir()
    said = widget_catalog("export", tmp_path / "out" / "all", *data, environment=environment)
    assert said.code == 0, said
    digest = hashlib.sha256(JS).hexdigest()
    copies = list((tmp_path / "out" / "bundles").rglob("*.js"))
    assert digest in {hashlib.sha256(it.read_bytes()).hexdigest() for it in copies}

    site = tmp_path / "site"
    base_url = ("--base-url", "https://static.example")
    written = widget_catalog("site", site, *base_url, *data, environment=environment)
    assert written.code == 0, written
    detail = json.loads((site / "api/v1/widgets/ann/clock.json").read_bytes())
    shown = nodes[0].client.get("/api/v1/widgets/ann/clock").json()
    numbers, expected = ([it["version"] for it in of["versions"]] for of in (detail, shown))
    assert numbers == expected
    assert (site / "cdn/@ann/clock/1.0.0/index.js").read_bytes() == JS


def _ended_request(number: int) -> dict[str, Any]:
    then = int(time.time() * 1000) - 2 * 3_600_000
    return PublishRequest(
        id=f"r{number}",
        account_id=1,
        scope="ann",
        name="spam",
        version=f"1.0.{number}",
        bundle_size=1,
        sha256_hash=hashlib.sha256(b"spam %d" % number).hexdigest(),
        css_size=None,
        css_sha256_hash=None,
        manifest="{}",
        beside="{}",
        created_at=then,
        expires_at=then + 3_600_000,
        confirmed_at=None,
    )._asdict()
