"""The real service with the demo catalog, for a browser to look at."""

from collections.abc import Iterator

import pytest

from support.service import Service, running_service


@pytest.fixture(scope="module")
def demo_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("demo") / "data", "--demo") as service:
        yield service
