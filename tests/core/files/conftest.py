"""Object stores for all tests of a file."""

from collections.abc import Iterator

import pytest

from support.s3 import ministack, rclone


@pytest.fixture(scope="module")
def rclone_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with rclone(tmp_path_factory.mktemp("rclone")) as port:
        yield port


@pytest.fixture(scope="module")
def ministack_port() -> Iterator[int]:
    with ministack() as port:
        yield port
