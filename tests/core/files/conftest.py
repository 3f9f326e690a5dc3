"""Object stores for all tests of a file."""

from collections.abc import Iterator

import boto3
import pytest

from support.s3 import ministack, rclone

SESSION = boto3.session.Session


@pytest.fixture(scope="module", autouse=True)
def one_description_of_s3() -> Iterator[None]:
    """All clients share a session: each would read the description of the API, for 0.15 s."""
    session = boto3.session.Session()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3.session, "Session", lambda: session)
        yield


@pytest.fixture(scope="module")
def rclone_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with rclone(tmp_path_factory.mktemp("rclone")) as port:
        yield port


@pytest.fixture(scope="module")
def ministack_port() -> Iterator[int]:
    with ministack() as port:
        yield port


@pytest.fixture
def finds_the_key_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that change the variables with the key."""
    monkeypatch.setattr(boto3.session, "Session", SESSION)
