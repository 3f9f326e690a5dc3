"""Checks before `serve` starts workers: that they will be able to build the search index."""

from ..catalog.node.wiring import Node
from ..catalog.search.file import check_index
from ..core.db.damage import DamageAlarm
from ..core.errors import DataDamaged, FolderUnusable
from ..operations.doctor import check_database

_REBUILT = "the read model was damaged and has been rebuilt."


def check_start(node: Node) -> list[str]:
    """Make sure that workers can build the search index; returns what had to be repaired.

    Raises FolderUnusable if damaged data cannot be rebuilt.
    """
    mended = [] if node.is_replica_intact else [_REBUILT]
    try:
        check_index(node.folder.replica, node.folder.search_index)
        return mended
    except DataDamaged:
        findings = check_database(node.store, node.replica)
    if not findings.is_store_intact:
        raise FolderUnusable(
            f"The database in {node.folder.path} is damaged. Restore it from a backup. Fault: "
            f"{findings.faults[0]}"
        )
    check_index(node.folder.replica, node.folder.search_index)
    DamageAlarm(node.folder.damage).clear()
    return mended + findings.mended
