"""What `serve` makes sure of before it starts workers: that they can make their search index."""

from ..actions.check_catalog import check_database
from ..domain.errors import DataDamaged, FolderUnusable
from ..replica.search.file import check_index
from ..store.damage import DamageAlarm
from ..wiring import Node

_REBUILT = "the read model was damaged and has been rebuilt."


def check_start(node: Node) -> list[str]:
    """See to it that workers can make their search index; gives what had to be mended for it.

    Raises FolderUnusable if that is damaged and cannot be rebuilt.
    """
    mended = [] if node.is_replica_sound else [_REBUILT]
    try:
        check_index(node.folder.replica, node.folder.search_index)
        return mended
    except DataDamaged:
        findings = check_database(node.store, node.replica)
    if not findings.is_truth_sound:
        raise FolderUnusable(
            f"The database in {node.folder.path} is damaged. Restore it from a backup. Fault: "
            f"{findings.faults[0]}"
        )
    check_index(node.folder.replica, node.folder.search_index)
    DamageAlarm(node.folder.damage).clear()
    return mended + findings.mended
