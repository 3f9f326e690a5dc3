"""The client in Chromium (from another origin, under a strict policy), in Node and in Bun."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from support.client import ClientCatalog, Runtime, runtime_of


@pytest.fixture(scope="module", params=["chromium", "node", "bun"])
def play(
    request: pytest.FixtureRequest,
    catalog: ClientCatalog,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Runtime]:
    folder = tmp_path_factory.mktemp(request.param)
    with runtime_of(request.param, catalog, folder, browser) as made:
        yield made


def test_what_can_be_read_is_read_and_failures_have_their_class(
    play: Runtime, catalog: ClientCatalog
) -> None:
    assert play("reading", catalog.url) == {
        "found": [1, "2.0.0", "1.1.0"],
        "versions": ["2.0.0", "1.1.0", "1.0.0"],
        "revocations": [],
        "unknown": ["NotFound", "There is no widget 'acme/nobody'."],
        "notAnId": ["InvalidRequest", "../../etc is not a widget: write scope/name."],
        "invalid": ["InvalidRequest", "page must be a whole number of at least 1."],
        "aborted": "stopped",
        "offline": ["Offline", "http://127.0.0.1:1/api/v1/widgets/search cannot be reached."],
    }
