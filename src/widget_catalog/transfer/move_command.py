"""`widget-catalog move`: from a data folder to PostgreSQL and an object store, or back."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from ..catalog.node.context import ConfigOption, DataOption, fail, report, require_catalog, say
from ..core.load_settings import load_settings
from ..core.settings import Backends, Settings

if TYPE_CHECKING:
    from .move_catalog import Place


def move(
    to_database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The PostgreSQL database to move to.",
            show_default="the setting database",
        ),
    ] = None,
    to_bundles: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The object store to move bundles to, such as s3://bucket.",
            show_default="the setting bundles",
        ),
    ] = None,
    back: Annotated[
        bool, typer.Option("--back", help="Move in the other direction, into a new data folder.")
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Move the whole catalog to a shared database and object store, for several nodes.

    Stop every service of this catalog first. The source is not changed. Run the command again to
    resume an interrupted move. In the end, source and target are compared. The setting secret_key
    must be the one that the nodes will use.
    """
    from ..core.amounts import counted
    from ..core.db.postgresql import find_nodes
    from ..core.progress import counting
    from .move_catalog import move_bundles, move_tables

    flags = {"data": data, "database": to_database, "bundles": to_bundles}
    settings = load_settings(flags, config)
    if not (settings.database or settings.bundles):
        fail("No target given: pass --to-database or --to-bundles, or set database and bundles.")
    folder, shared = _folder(settings, is_new=back), _shared(settings)
    if nodes := find_nodes(shared.store):
        fail(
            f"Nodes with this database are running, at {', '.join(nodes)}. Stop them first: "
            "changes they make meanwhile would not be moved."
        )
    source, target = (shared, folder) if back else (folder, shared)
    bar = partial(counting, say)
    rows = move_tables(source, target, bar) if settings.database else 0
    files = move_bundles(source, target, bar) if settings.bundles else 0
    moved = f"{counted(rows, 'row')} and {counted(files, 'bundle')}"
    report(f"Moved {moved}. Source and target were compared and are identical.")


def _folder(settings: Settings, *, is_new: bool) -> "Place":
    from dataclasses import replace

    from ..catalog.node.context import finish_interrupted_import
    from ..catalog.node.opening import open_secret_box
    from ..catalog.node.wiring import DataFolder, prepare_node
    from ..catalog.replica.file import discard
    from ..core.service_lock import ServiceLock
    from .move_catalog import Place

    alone = replace(settings, database="", bundles="")
    folder = DataFolder(settings.data)
    ServiceLock(folder.path, folder.service_lock).check()
    if not is_new:
        require_catalog(alone)
    # Do not build a read model from incomplete tables; the next start builds it.
    node = prepare_node(settings.data, applies=not is_new, on_wait=report)
    if is_new:
        discard(folder.replica)
    else:
        finish_interrupted_import(node)
    return Place(node.store, node.bundles, open_secret_box(folder, alone))


def _shared(settings: Settings) -> "Place":
    """Data without a shared backend stays in the folder."""
    from ..catalog.node.opening import check_bundles, open_secret_box
    from ..catalog.node.wiring import DataFolder, prepare_node
    from .move_catalog import Place

    check_bundles(settings.backends)
    node = prepare_node(
        settings.data,
        backends=Backends(settings.database, settings.backends.bundles),
        applies=not settings.database,
        on_wait=report,
    )
    return Place(node.store, node.bundles, open_secret_box(DataFolder(settings.data), settings))
