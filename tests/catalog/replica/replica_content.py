"""The content of a data folder's replica, and damage that its checks must detect."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa

from widget_catalog.catalog.replica.encoding import records_of
from widget_catalog.catalog.replica.file import _TABLES, ReplicaFile, find_current, open_current
from widget_catalog.catalog.replica.records import key_of, number_key, seal
from widget_catalog.catalog.replica.rendering import render
from widget_catalog.catalog.store.widgets import read_widgets
from widget_catalog.core.data_folder import DataFolder

_PAGE_BYTES = 4096
# The first two pages are the meta pages.
_FIRST_PAGE = 2


@contextmanager
def opened(data: Path) -> Iterator[ReplicaFile]:
    file = open_current(DataFolder(data).replica)
    assert file is not None
    try:
        yield file
    finally:
        file.close()


def contents(data: Path) -> dict[str, dict[bytes, bytes]]:
    """All records by table."""
    with opened(data) as file, file.environment.begin() as reading:
        return {
            name: dict(reading.cursor(table))
            for name, table in zip(_TABLES, file.tables, strict=True)
        }


def change_widget(data: Path, widget_id: int, **fields: Any) -> None:
    """Change a widget's records, with valid checksums: they no longer match the database."""
    engine = sa.create_engine(f"sqlite:///{data / 'catalog.db'}")
    with engine.connect() as connection:
        [stored] = read_widgets(connection, [widget_id]).intact
    engine.dispose()
    wrong = records_of(widget_id, 1, render(msgspec.structs.replace(stored.widget, **fields)))
    with opened(data) as file, file.writing() as transaction:
        number = number_key(widget_id)
        transaction.put(number, seal(number, wrong.index_row), db=file.index_rows)
        transaction.put(number, seal(number, wrong.document), db=file.documents)


def change_record(data: Path, table: str, widget_id: int, change: Callable[[bytes], bytes]) -> None:
    with opened(data) as file, file.writing() as transaction:
        number = number_key(widget_id)
        before = transaction.get(number, b"", db=getattr(file, table))
        transaction.put(number, change(before), db=getattr(file, table))


def remove_document(data: Path, widget_id: int) -> None:
    with opened(data) as file, file.writing() as transaction:
        assert transaction.delete(number_key(widget_id), db=file.documents)


def remove_key(data: Path, scope: str, name: str) -> None:
    with opened(data) as file, file.writing() as transaction:
        assert transaction.delete(key_of(scope, name), db=file.keys)


def replica_of(data: Path) -> Path:
    """The file itself."""
    path = find_current(DataFolder(data).replica)
    assert path is not None
    return path


def flip_bits(data: Path, flips: int, seed: int) -> None:
    """Change single bits anywhere in the replica, except for its first two pages."""
    choose = random.Random(seed)
    with replica_of(data).open("r+b") as file:
        size = file.seek(0, 2)
        for _ in range(flips):
            at = choose.randrange(_FIRST_PAGE * _PAGE_BYTES, size)
            file.seek(at)
            [old] = file.read(1)
            file.seek(at)
            file.write(bytes([old ^ (1 << choose.randrange(8))]))


def overwrite_pages(data: Path, pages: int, seed: int) -> None:
    """Write noise over whole pages of the replica."""
    choose = random.Random(seed)
    with replica_of(data).open("r+b") as file:
        count = file.seek(0, 2) // _PAGE_BYTES
        for page in choose.sample(range(_FIRST_PAGE, count), pages):
            file.seek(page * _PAGE_BYTES)
            file.write(choose.randbytes(_PAGE_BYTES))
