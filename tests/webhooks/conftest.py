"""A catalog with a scheduler of webhooks, and a receiver."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from webhooks.receiver import Receiver
from webhooks.sending_catalog import Post
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.migrate import migrate
from widget_catalog.core.db.sqlite import sqlite_engine


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """To be copied: migrating takes ten times as long."""
    folder = tmp_path_factory.mktemp("migrated")
    store = Store(sqlite_engine(folder / "catalog.db"), folder / "lock")
    migrate(store)
    store.close()
    return (folder / "catalog.db").read_bytes()


@pytest.fixture
def post(tmp_path: Path, migrated: bytes) -> Iterator[Post]:
    (tmp_path / "catalog.db").write_bytes(migrated)
    made = Post(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made
