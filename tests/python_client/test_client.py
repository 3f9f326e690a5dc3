"""The Python client against a real service, in both variants."""

import asyncio
import hashlib
import io
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from typing import Any

import msgspec
import pytest

from support.demo import import_demo
from support.folders import empty_folder
from support.relay import Relay
from support.service import NO_CERTIFICATES, Service, running_service
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.moderation.revoke_version import revoke_version, unrevoke_version
from widget_catalog.publishing.change_widget import deprecate_version, undeprecate_version
from widget_catalog_client import (
    AsyncCatalog,
    Catalog,
    CatalogUnavailable,
    Change,
    ConfigVersionChange,
    InstalledWidget,
    InvalidRequest,
    NotFound,
    Revoked,
)

ROOT = Path(__file__).parents[2]
_LONG_S = 60

Ask = Callable[..., Any]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    made = open_node(empty_folder(tmp_path_factory.mktemp("client") / "data"), is_durable=False)
    import_demo(made)
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def service(node: Node) -> Iterator[Service]:
    with running_service(node.folder.path) as running:
        yield running


def ask_sync(url: str, method: str, *arguments: Any, **options: Any) -> Any:
    with Catalog(url) as catalog:
        return getattr(catalog, method)(*arguments, **options)


def ask_async(url: str, method: str, *arguments: Any, **options: Any) -> Any:
    async def ask() -> Any:
        async with AsyncCatalog(url) as catalog:
            return await getattr(catalog, method)(*arguments, **options)

    return asyncio.run(ask())


@pytest.fixture(params=[ask_sync, ask_async], ids=["sync", "async"])
def ask(request: pytest.FixtureRequest, service: Service) -> Ask:
    def asked(method: str, *arguments: Any, **options: Any) -> Any:
        return request.param(service.url, method, *arguments, **options)

    return asked


@pytest.mark.parametrize(
    ("path", "method", "arguments", "options"),
    [
        ("v1/widgets/search?q=clock&compatSdk=1.2.0&page=1&limit=20", "search", ["clock"],
         {"compat_sdk": "1.2.0"}),
        ("v1/widgets/search?scope=catalog&official=true&page=2&limit=3", "search", [],
         {"scope": "catalog", "official": True, "page": 2, "limit": 3}),
        ("v1/widgets/catalog/clock", "detail", ["@catalog/clock"], {}),
        ("v1/widgets/catalog/clock/2.0.0", "version", ["catalog/clock", "2.0.0"], {}),
        ("widgets/catalog/registry.json", "registry", ["catalog"], {}),
        ("v1/widgets/changes?since=3&limit=5", "changes", [3], {"limit": 5}),
        ("v1/widgets/revocations", "revocations", [], {}),
        ("settings", "settings", [], {}),
    ],
)  # fmt: skip
def test_what_is_read_is_what_the_catalog_sends(
    ask: Ask, service: Service, path: str, method: str, arguments: list[Any], options: Any
) -> None:
    with service.client() as http:
        sent = http.get(f"/api/{path}").json()
    read = ask(method, *arguments, **options)
    assert json.loads(msgspec.json.encode(read)) == sent
    with pytest.raises(AttributeError):
        read.anything = 1


def test_resolve_says_what_to_do(ask: Ask) -> None:
    wanted = [InstalledWidget("catalog/clock", "1.1.0"), "acme/nothing"]
    resolved = ask("resolve", "1.2.0", wanted, min_age_days=0)
    assert [(it.id, it.status, it.config_version_change) for it in resolved.results] == [
        ("catalog/clock", "update", ConfigVersionChange(1, 2)),
        ("acme/nothing", "unknown", None),
    ]


def test_an_install_is_counted_once(ask: Ask) -> None:
    def count() -> int:
        return int(ask("detail", "home/notes").widget.download_count)

    before = count()
    ask("count_install", "@home/notes")
    assert count() == before + 1
    with pytest.raises(NotFound):
        ask("count_install", "home/nothing")


def test_every_error_of_a_request_is_reported(ask: Ask) -> None:
    with pytest.raises(InvalidRequest) as told:
        ask("resolve", "1", [InstalledWidget("catalog/clock", "one")])
    assert [it.partition(":")[0] for it in told.value.faults] == ["sdk", "widgets[0].installed"]
    assert " ".join(told.value.faults) == told.value.message


def test_what_cannot_be_asked_for_is_refused_before_anything_is_sent(ask: Ask) -> None:
    for method, *arguments in (
        ("detail", "clock"),
        ("version", "catalog/clock", "../x"),
        ("registry", "a/b"),
    ):
        with pytest.raises(InvalidRequest):
            ask(method, *arguments)
    for address in (
        "catalog.example",
        "localhost:8080",
        "https://catalog.example#top",
        "ftp://catalog.example",
        "https://",
        "http://[",
        "http://a:b",
    ):
        with pytest.raises(InvalidRequest, match="is not the address of a catalog"):
            Catalog(address)


def test_what_is_not_there_is_not_found(ask: Ask) -> None:
    with pytest.raises(NotFound, match=r"^There is no widget 'acme/nothing'\.$"):
        ask("detail", "acme/nothing")
    with pytest.raises(NotFound):
        ask("version", "catalog/clock", "9.9.9")


def test_a_bundle_is_downloaded_and_verified(ask: Ask) -> None:
    entry = ask("detail", "catalog/clock").versions[0]
    file = io.BytesIO()
    ask("download_bundle", entry, file)
    assert hashlib.sha256(file.getvalue()).hexdigest() == entry.sha256_hash
    for published in ask("version", "catalog/clock", entry.version).files:
        ask("download_bundle", published, io.BytesIO())


def test_a_revoked_bundle_is_not_served(ask: Ask, node: Node) -> None:
    entry = ask("version", "catalog/clock", "1.0.0").version
    revoke_version(node.store, node.bundles, COMMAND_LINE, "catalog/clock", "1.0.0", "Bad.")
    try:
        file = io.BytesIO(b"kept")
        file.seek(4)
        with pytest.raises(Revoked):
            ask("download_bundle", entry, file)
        assert file.getvalue() == b"kept"
        (revocation,) = ask("revocations").revocations
        assert (revocation.id, revocation.reason) == ("catalog/clock", "Bad.")
    finally:
        unrevoke_version(node.store, node.bundles, COMMAND_LINE, "catalog/clock", "1.0.0")


class Watching:
    """A watcher in a separate thread; `seen` has the changes it received."""

    def __init__(self, url: str, *, is_async: bool, since: int | None, **options: Any) -> None:
        self.seen: Queue[Change] = Queue()
        target = self._watch_async if is_async else self._watch
        arguments = (url, since, options)
        threading.Thread(target=target, args=arguments, daemon=True).start()

    def _watch(self, url: str, since: int | None, options: Any) -> None:
        with Catalog(url) as catalog:
            for change in catalog.watch(since, **options):
                self.seen.put(change)

    def _watch_async(self, url: str, since: int | None, options: Any) -> None:
        async def watch() -> None:
            async with AsyncCatalog(url) as catalog:
                async for change in catalog.watch(since, **options):
                    self.seen.put(change)

        asyncio.run(watch())

    def take(self, count: int) -> list[Change]:
        return [self.seen.get(timeout=_LONG_S) for _ in range(count)]


def change_something(node: Node) -> None:
    deprecate_version(node.store, COMMAND_LINE, "catalog/clock", "1.0.0", "Old.")
    undeprecate_version(node.store, COMMAND_LINE, "catalog/clock", "1.0.0")


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("streams", [True, False], ids=["stream", "polling"])
def test_watching_sees_every_change_once_and_goes_on_after_a_cut(
    service: Service, node: Node, is_async: bool, streams: bool
) -> None:
    newest = ask_sync(service.url, "changes", 10**9).newest
    with Relay(("127.0.0.1", service.port)) as relay:
        address = f"http://127.0.0.1:{relay.port}"
        watching = Watching(
            address, is_async=is_async, since=newest - 2, poll_s=0.2, streams=streams
        )
        seen = watching.take(2)
        change_something(node)
        seen += watching.take(2)
        relay.cut()
        change_something(node)
        relay.restore()
        seen += watching.take(2)
        change_something(node)
        seen += watching.take(2)
    assert [it.seq for it in seen] == list(range(newest - 1, newest + 7))
    assert [it.type for it in seen[2:4]] == ["deprecated", "undeprecated"]


def test_watching_without_a_number_begins_now(service: Service, node: Node) -> None:
    with Catalog(service.url) as catalog:
        newest = catalog.changes(10**9).newest
        watching = catalog.watch(streams=False, poll_s=0.1)
        seen: Queue[Change] = Queue()
        thread = threading.Thread(target=lambda: seen.put(next(watching)))
        thread.start()
        for _ in itertools.count():  # It starts with its first request.
            change_something(node)
            thread.join(0.5)
            if not thread.is_alive():
                break
        assert seen.get().seq > newest


def test_a_catalog_that_is_not_there_is_unavailable() -> None:
    for ask in (ask_sync, ask_async):
        with pytest.raises(CatalogUnavailable, match="cannot be reached"):
            ask("http://127.0.0.1:9", "search")


def test_an_http_client_of_ones_own_is_used_and_left_open(service: Service) -> None:
    import httpx

    with httpx.Client(verify=NO_CERTIFICATES, timeout=30) as http:
        with Catalog(service.url, http=http) as catalog:
            assert catalog.search(limit=1).limit == 1
        assert not http.is_closed


def test_the_examples_of_the_guide_run(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = ("python-client.md", "following-changes.md")
    guide = "\n".join((ROOT / "docs" / it).read_text() for it in pages)
    examples = re.findall(r"^```python\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert len(examples) >= 4
    for example in examples:
        code = example.replace("http://127.0.0.1:8080", service.url)
        exec(compile(code, "a guide", "exec"), {"__name__": "__main__"})
    assert "catalog/clock" in capsys.readouterr().out
