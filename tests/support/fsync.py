"""Nothing is forced to the disk by sites in this process: most tests would spend more time waiting
for it than computing. Services in processes of their own do, as in production.

`tests/core/files/test_local.py` and `tests/publishing/test_failed_commit.py` test what is forced.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from widget_catalog.catalog.node import node
from widget_catalog.core.db.sqlite import sqlite_engine


@contextlib.contextmanager
def without_fsync() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        patch.setattr(node, "sqlite_engine", _engine)
        yield


def _engine(path: Path, *, is_durable: bool = True, may_create: bool = True) -> sa.Engine:
    return sqlite_engine(path, is_durable=False, may_create=may_create)
