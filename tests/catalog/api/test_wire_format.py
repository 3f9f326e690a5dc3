"""Every public response has the format of the contract: all fields, in order, and no others."""

from collections.abc import Iterator

import msgspec
import pytest

from support.demo_site import running_demo_site
from support.site import InProcessSite, Reply
from widget_contract import wire
from widget_contract.version_files import CLI_VERSION, SEARCH, detail_path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with running_demo_site(tmp_path_factory.mktemp("demo") / "data") as site:
        yield site


def assert_shaped(response: Reply, shape: type[wire.Shape]) -> None:
    """Decoded and encoded again, it has the same bytes."""
    assert msgspec.json.encode(msgspec.json.decode(response.body, type=shape)) == response.body


@pytest.mark.parametrize("query", ["", "?compatSdk=1.2.0", "?q=clock&compatSdk=9.0.0", "?q=none"])
def test_search(site: InProcessSite, query: str) -> None:
    assert_shaped(site.get(SEARCH + query), wire.SearchResults)


def test_every_detail_and_registry(site: InProcessSite) -> None:
    found = site.get(f"{SEARCH}?limit=100").json()["widgets"]
    assert len(found) == 20
    for widget in found:
        assert_shaped(site.get(detail_path(widget["scope"], widget["name"])), wire.WidgetDetail)
    for scope in {it["scope"] for it in found}:
        assert_shaped(site.get(f"/api/widgets/{scope}/registry.json"), wire.Registry)


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/api/version", wire.ServiceVersion),
        (CLI_VERSION, wire.CliVersion),
        ("/api/stats", wire.Stats),
        ("/api/settings", wire.Settings),
        (detail_path("no", "body"), wire.Error),
        (f"{SEARCH}?page=0", wire.Error),
        ("/api/widgets/nobody/registry.json", wire.Error),
    ],
)
def test_other_responses(site: InProcessSite, path: str, shape: type[wire.Shape]) -> None:
    assert_shaped(site.get(path), shape)


def test_a_count(site: InProcessSite) -> None:
    assert_shaped(site.request("POST", detail_path("catalog", "clock")), wire.Counted)
