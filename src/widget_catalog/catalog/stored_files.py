"""Removes stored files that nothing refers to, without making anybody wait; and withdraws those of
revoked versions.

An object store may take seconds to remove a batch, and longer if it fails. So no lock is held
meanwhile: a transaction marks the files, then they are removed, then another one unmarks them. As
long as a file is marked, no version can begin to refer to it. Marks of a killed process expire, and
the files are removed again.
"""

from collections.abc import Callable, Collection

from ..core.db.engine import Snapshot, Store
from ..core.files.contract import Bundles, FileKey
from ..core.files.hashing import map_parallel
from .store.files import list_marked, mark_for_removal, unmark
from .store.revocations import is_needed, list_revoked_files

_BATCH = 100


def remove_unused(
    store: Store,
    bundles: Bundles,
    files: Collection[FileKey],
    remove: Callable[[FileKey], object] | None = None,
) -> None:
    """Remove those of these files that nothing refers to. `remove` may do something else with
    them.
    """
    every = sorted(files)
    for start in range(0, len(every), _BATCH):
        with store.publishing() as tx:
            marked = mark_for_removal(tx, every[start : start + _BATCH])
        if not marked.files:
            continue
        for _ in map_parallel(remove or (lambda it: bundles.remove(*it)), marked.files):
            pass
        with store.publishing() as tx:
            unmark(tx, marked)


def are_present(connection: Snapshot, bundles: Bundles, files: Collection[FileKey]) -> bool:
    """Whether all these files are stored and stay: a version may refer to them. In
    `Store.publishing`, as with everything that adds versions.
    """
    if list_marked(connection) & set(files):
        return False
    return all(map_parallel(lambda it: bundles.stat(*it) is not None, files))


def withdraw_files(store: Store, bundles: Bundles) -> None:
    """Move the files of revoked versions that are still in the served folder."""
    with store.reading() as connection:
        files = list(list_revoked_files(connection))
    served = [it for it in files if bundles.stat(*it.key)]
    if not served:
        return
    with store.publishing() as tx:
        revoked = {it.key for it in list_revoked_files(tx.connection)}
        for file in served:
            if file.key in revoked and not is_needed(tx.connection, file):
                bundles.withdraw(*file.key)
