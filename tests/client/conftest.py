"""A real service with widgets that a client can load, reject, and watch."""

from collections.abc import Iterator

import pytest

from client.runtimes import ClientCatalog, client_catalog


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClientCatalog]:
    with client_catalog(tmp_path_factory.mktemp("catalog")) as made:
        yield made
