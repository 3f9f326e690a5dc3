"""Hosts that an upstream names: only public ones are contacted, unless a setting allows others."""

import contextlib
import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mirror.mirrors import Passed, Tampering, a_mirror, exported, tampering_server
from support.commands import widget_catalog
from support.service import Service
from widget_catalog.catalog.node.node import Node
from widget_catalog.core.networks import parse_networks
from widget_catalog.mirror.other_hosts import OtherHosts

_HERE = parse_networks("127.0.0.0/8")
_SEARCH = "/api/v1/widgets/search"


class Inside(Tampering):
    """A server in the private network; `asked` are the paths that were requested."""

    asked: list[str]


@pytest.fixture
def inside(service: Service) -> Iterator[Inside]:
    with tampering_server(service.url) as made:
        server = Inside(made.url)
        server.asked = []

        def tamper(path: str, passed: Passed) -> Any:
            server.asked.append(path)
            return server.tamper(path, passed)

        made.tamper = tamper
        yield server


@contextlib.contextmanager
def upstream(
    service: Service, path: str, change: Callable[[Any, str], None]
) -> Iterator[Tampering]:
    """An upstream that changes its JSON at this path; it is told its own URL."""
    with tampering_server(service.url) as made:

        def tamper(asked: str, passed: Passed) -> Passed:
            # All its URLs are its own, as if it was the only server.
            body = passed.body.replace(service.url.encode(), made.url.encode())
            if asked.partition("?")[0] == path:
                document = json.loads(body)
                change(document, asked)
                body = json.dumps(document).encode()
            return passed._replace(body=body)

        made.tamper = tamper
        yield made


@contextlib.contextmanager
def with_cdn(service: Service, cdn_url: str) -> Iterator[Tampering]:
    """An upstream whose bundles are at this URL."""
    with tampering_server(service.url) as server:

        def tamper(_path: str, passed: Passed) -> Passed:
            body = passed.body.replace(f"{service.url}/cdn".encode(), cdn_url.encode())
            return passed._replace(body=body.replace(service.url.encode(), server.url.encode()))

        server.tamper = tamper
        yield server


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"])
def test_bundles_in_a_private_network_are_not_fetched(
    tmp_path: Path, service: Service, inside: Inside, host: str
) -> None:
    cdn_url = f"{inside.url.replace('127.0.0.1', host)}/cdn"
    with (
        with_cdn(service, cdn_url) as server,
        a_mirror(tmp_path / "data", server.url) as copying,
    ):
        errors = copying.mirroring.run().errors
        assert "acme/clock" not in exported(copying.node)
    assert inside.asked == []
    assert len(errors) == 4
    for error in errors:
        assert "leads into a private network" in error
        assert "mirror_networks" in error


def test_a_network_can_be_allowed(
    tmp_path: Path, origin: Node, service: Service, inside: Inside
) -> None:
    with with_cdn(service, f"{inside.url}/cdn") as server:
        data = tmp_path / "data"
        said = widget_catalog("mirror", server.url, "--data", data)
        assert (said.code, inside.asked) == (1, [])
        assert "acme/clock: " in said.err
        allowed = {"WIDGET_CATALOG_MIRROR_NETWORKS": "127.0.0.0/8"}
        said = widget_catalog("mirror", server.url, "--data", data, environment=allowed)
        assert said.code == 0, said
    assert "/cdn/@acme/clock/2.0.0/index.js" in inside.asked


def test_what_another_host_says_in_an_error_is_not_shown(
    tmp_path: Path, service: Service, inside: Inside
) -> None:
    said = {"content-type": "application/json"}
    inside.tamper = lambda _path, _passed: Passed(403, said, b'{"error":"internal-secret"}')
    with (
        with_cdn(service, f"{inside.url}/cdn") as server,
        a_mirror(tmp_path / "data", server.url, others=OtherHosts(_HERE)) as copying,
    ):
        errors = copying.mirroring.run().errors
    assert inside.asked
    assert all("answers with status 403" in it and "secret" not in it for it in errors)


def test_every_address_of_a_name_is_checked_and_the_checked_one_is_used(
    tmp_path: Path, service: Service, inside: Inside
) -> None:
    """A name server may give another address every time it is asked."""
    asked: list[str] = []
    responses: Iterator[list[str]] = itertools.cycle(
        [["93.184.216.34", "127.0.0.1"], ["127.0.0.1"], ["10.0.0.1"]]
    )

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return next(responses)

    cdn_url = f"{inside.url.replace('127.0.0.1', 'cdn.example')}/cdn"
    with with_cdn(service, cdn_url) as server:
        with a_mirror(tmp_path / "data", server.url, others=OtherHosts((), resolve)) as copying:
            assert len(copying.mirroring.run().errors) == 4
            assert inside.asked == []
        asked.clear()
        responses = itertools.repeat(["127.0.0.1"])
        one = OtherHosts(_HERE, resolve)
        with a_mirror(tmp_path / "data", server.url, others=one) as copying:
            assert copying.mirroring.run().errors == []
    # One look-up a request: between the check and the connection nothing is resolved.
    assert asked == ["cdn.example"] * len(inside.asked)


def test_the_upstream_of_an_upstream_is_not_asked_in_a_private_network(
    tmp_path: Path, service: Service, inside: Inside
) -> None:
    def is_mirror(document: Any, _asked: str) -> None:
        document["mirrorOf"] = {"url": inside.url, "id": "x", "through": []}

    with upstream(service, "/api/settings", is_mirror) as server:
        with a_mirror(tmp_path / "one", server.url) as copying:
            assert copying.mirroring.run().errors == []
        assert inside.asked == []
        with a_mirror(tmp_path / "two", server.url, others=OtherHosts(_HERE)):
            assert inside.asked == ["/api/settings"]


@pytest.mark.parametrize("is_endless", [True, False])
def test_a_listing_ends_whatever_its_total_says(
    tmp_path: Path, origin: Node, service: Service, is_endless: bool
) -> None:
    pages: list[str] = []
    first: list[Any] = []

    def has_more(document: Any, asked: str) -> None:
        pages.append(asked)
        first[:] = first or document["widgets"]
        document["total"] = 10**12
        if is_endless:  # The same page again and again.
            document["widgets"] = first

    with (
        upstream(service, _SEARCH, has_more) as server,
        a_mirror(tmp_path / "data", server.url) as copying,
    ):
        assert copying.mirroring.run().errors == []
        assert exported(copying.node).keys() == exported(origin).keys()
    assert len(pages) <= 12
