"""Migrates a catalog from a data folder to PostgreSQL and S3, or back. The source is not changed.

An interrupted move resumes. At the end everything is compared: the rows of every table, every
bundle by its hash, and both exports byte for byte.
"""

import hashlib
from typing import NamedTuple

from widget_contract.errors import CatalogError

from ..catalog.store.widgets import list_stored_files
from ..core.db.engine import Store
from ..core.errors import StoreUnavailable
from ..core.files.contract import Bundles, Kind
from ..core.files.hashing import hash_stream, map_parallel
from ..core.keys import SecretBox
from ..core.progress import Bar
from .export_catalog import export_catalog, linked_to
from .table_copy import copy_table, digest_table, tables


class Place(NamedTuple):
    store: Store
    bundles: Bundles
    box: SecretBox


class CannotMove(CatalogError):
    """The target holds something else, or differs from the source."""


def move_tables(source: Place, target: Place, bar: Bar) -> int:
    """Returns the number of rows."""

    def reseal(sealed: str) -> str:
        secret = source.box.open(sealed)
        # A secret that cannot be decrypted is copied as it is; doctor reports its owner.
        return sealed if secret is None else target.box.seal(secret)

    total = 0
    with source.store.reading() as connection:
        moved = tables(connection)
        wanted = {table.name: digest_table(connection, table) for table in moved}
        total = sum(it.rows for it in wanted.values())
        with bar("Copying rows", total) as progress:
            for table in moved:
                with target.store.reading() as there:
                    found = digest_table(there, table)
                if found == wanted[table.name]:
                    progress(found.rows)
                    continue
                if found.rows:
                    raise CannotMove(
                        f"The target is not empty: its table {table.name} has {found.rows:,} rows "
                        "that are not those of this catalog. Nothing was changed in it."
                    )
                copy_table(connection, target.store, table, reseal, progress)
        with target.store.reading() as there:
            for table in moved:
                if digest_table(there, table) != wanted[table.name]:
                    raise CannotMove(
                        f"The table {table.name} was changed while it was copied. Stop every "
                        "service of this catalog, empty the target and start again."
                    )
    if export_digest(source.store) != export_digest(target.store):
        raise CannotMove("The exports of both differ. Stop every service, and start again.")
    return total


def move_bundles(source: Place, target: Place, bar: Bar) -> int:
    """Returns the number of files that versions refer to."""
    with source.store.reading() as connection:
        files = {(it.sha256_hash, it.kind): it.size_bytes for it in list_stored_files(connection)}

    def copy(file: tuple[tuple[str, str], int]) -> None:
        (sha256_hash, named), size_bytes = file
        kind: Kind = "css" if named == "css" else "js"
        is_served = source.bundles.stat(sha256_hash, kind) is not None
        if not _has(target.bundles, sha256_hash, kind, size_bytes):
            with source.bundles.open(sha256_hash, kind) as content:
                target.bundles.put(content, sha256_hash, kind)
            if not _has(target.bundles, sha256_hash, kind, size_bytes):
                raise CannotMove(f"The bundle {sha256_hash} is not whole in the target.")
        if not is_served:
            target.bundles.withdraw(sha256_hash, kind)

    with bar("Copying bundles", len(files)) as progress:
        for _ in map_parallel(copy, sorted(files.items())):
            progress(1)
    return len(files)


def export_digest(store: Store) -> str:
    """Hash of the output of `export`, with bundles under a fixed URL."""
    digest = hashlib.sha256()
    for line in export_catalog(store, linked_to("")):
        digest.update(line)
    return digest.hexdigest()


def _has(bundles: Bundles, sha256_hash: str, kind: Kind, size_bytes: int) -> bool:
    try:
        with bundles.open(sha256_hash, kind) as content:
            return hash_stream(content) == (sha256_hash, size_bytes)
    except StoreUnavailable:
        raise  # Says nothing about the file.
    except CatalogError:
        return False
