"""`widget-catalog doctor --clean`: moves unreferenced files aside, and removes leftovers of
uploads.
"""

from datetime import timedelta
from typing import TYPE_CHECKING

from rich.filesize import decimal

from ..catalog.node.context import report
from ..core.amounts import counted

if TYPE_CHECKING:
    from ..catalog.node.wiring import Node
    from .set_aside import Aside


_WOULD_REFUSE = (
    " --clean refuses this without --force: the database may be an old one, or belong to another "
    "catalog."
)


def explain_orphans(node: "Node", orphans: list[str]) -> str:
    """The origin of such files, and what to do about them."""
    from .set_aside import find_orphans

    found = find_orphans(node.store, node.bundles, set(orphans))
    if found.are_too_many:
        return (
            f"Only {found.referred:,} of {counted(found.stored, 'stored file')} are referred to by "
            "a version. The database may be an old one, or belong to another catalog: check that "
            "first. doctor --clean refuses to move so many."
        )
    return "An interrupted import leaves such files behind. Move them aside with: doctor --clean"


def clean_up(node: "Node", orphans: list[str], *, is_dry: bool, is_forced: bool) -> list[str]:
    """Move these files aside, or report how many that would be; returns the remaining ones.

    Leftovers of uploads were never published, and are removed.
    """
    from ..publishing.publish_version import tidy_uploads
    from .set_aside import find_orphans, set_aside

    suspects = set(orphans)
    if is_dry and suspects:
        found = find_orphans(node.store, node.bundles, suspects)
        report(
            f"Would move {counted(len(found.files), 'file')} ({decimal(found.size_bytes)}) aside; "
            f"{found.referred:,} of {counted(found.stored, 'stored file')} would stay."
            + (_WOULD_REFUSE if found.are_too_many and not is_forced else "")
        )
    if is_dry:
        return orphans
    if suspects:
        moved = set_aside(node.store, node.bundles, node.folder.path, suspects, is_forced=is_forced)
        report(
            f"Moved {_amount(moved)} that no version refers to into {moved.folder}. Delete that "
            "folder when you are sure that nothing is missing."
        )
    tidy_uploads(node.store, node.bundles, node.uploads)
    return []


def forget_aside(node: "Node", days: int, *, is_dry: bool) -> None:
    """Delete files that were moved aside at least that many days ago, or report which ones that
    would be.
    """
    from ..core import clock
    from .set_aside import delete_aside, list_aside

    for aside in list_aside(node.folder.path, timedelta(days=days), clock.now()):
        if is_dry:
            report(f"Would delete {aside.folder} ({_amount(aside)}).")
            continue
        delete_aside(aside)
        report(f"Deleted {aside.folder} ({_amount(aside)}).")


def _amount(aside: "Aside") -> str:
    return f"{counted(aside.files, 'file')} ({decimal(aside.size_bytes)})"
