"""Nothing is forced to the disk by sites in this process: most tests would spend more time waiting
for it than computing. Services in processes of their own do, as in production.

`tests/core/files/test_local.py` and `tests/publishing/test_failed_commit.py` test what is forced.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb
import pytest
import sqlalchemy as sa

from widget_catalog.catalog.node import node
from widget_catalog.catalog.replica.file import ReplicaFile
from widget_catalog.core.db.sqlite import sqlite_engine


@contextlib.contextmanager
def without_fsync() -> Iterator[None]:
    usual_open = lmdb.open

    def open_unsynced(*positional: Any, **named: Any) -> Any:
        return usual_open(*positional, **{**named, "sync": False})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        patch.setattr(node, "sqlite_engine", _engine)
        patch.setattr(lmdb, "open", open_unsynced)
        patch.setattr(ReplicaFile, "sync", lambda _file: None)
        yield


def _engine(path: Path, *, is_durable: bool = True, may_create: bool = True) -> sa.Engine:
    engine = sqlite_engine(path, is_durable=is_durable, may_create=may_create)

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF")

    return engine
