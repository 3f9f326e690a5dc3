"""SQL statements that are compiled once for all SQLite databases of this process: most tests have
a database of their own, and would spend a tenth of their time on compiling the same statements.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.util import LRUCache

_MOST = 5_000


@contextlib.contextmanager
def shared_statements() -> Iterator[None]:
    compiled: LRUCache[Any, Any] = LRUCache(_MOST)
    usual = sa.create_engine

    def create_engine(*positional: Any, **named: Any) -> sa.Engine:
        engine = usual(*positional, **named)
        if isinstance(engine.dialect, SQLiteDialect):
            engine._compiled_cache = compiled
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sa, "create_engine", create_engine)
        # Dialects are a part of the keys. All of them are created with the same options.
        patch.setattr(SQLiteDialect, "__eq__", lambda self, other: type(self) is type(other))
        patch.setattr(SQLiteDialect, "__hash__", lambda self: hash(type(self)))
        yield
