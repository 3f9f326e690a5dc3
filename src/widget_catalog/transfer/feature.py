"""Transfer: `widget-catalog import`, `export` and `move`."""

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    command_node,
    existing_node,
    fail,
    finish_interrupted_import,
    report,
    require_catalog,
    say,
)
from ..core.clock import counted
from ..core.commands import DATA, Command
from ..core.data_folder import DataFolder
from ..core.features import Feature
from ..core.load_settings import load_settings
from ..core.settings import Backends, Settings

if TYPE_CHECKING:
    from ..catalog.node.node import Node
    from ..core.db.engine import Store
    from ..core.files.contract import Bundles
    from .import_checks import ImportSummary
    from .move_catalog import Location


def import_(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="An NDJSON file, one widget per line; - for standard input."
        ),
    ],
    into_owned: Annotated[
        bool,
        typer.Option(
            "--into-owned", help="Also add to scopes that belong to an account or organization."
        ),
    ] = False,
    lenient: Annotated[
        bool,
        typer.Option(
            "--lenient",
            help="Remove control and invisible characters from texts, and allow manifests that "
            "are not JSON objects.",
        ),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Import widgets from a file: all of them, or none if there is an error.

    Versions that are already published are skipped; a different hash is an error. The service may
    be running. Exit code 1: the errors are listed, nothing was imported.
    """
    from ..catalog.node.opening import undone_on_failure
    from ..core.clock import counted

    settings = load_settings({"data": data}, config)
    source = None if file == "-" else Path(file)
    if source is not None and not source.exists():
        fail(f"There is no file {source}.")
    with undone_on_failure(settings):
        node = command_node(settings)
        # A pipe may be slow, and must not block the writers of a running service.
        is_file = source is not None and source.is_file()
        is_alone = is_file and not settings.database and not _is_served(node)
        summary = import_file(
            node, source, settings, into_owned=into_owned, is_lenient=lenient, is_alone=is_alone
        )
    say.print(
        f"Added {counted(summary.widgets_added, 'widget')} and "
        f"{counted(summary.versions_added, 'version')} "
        f"({counted(summary.bundles_stored, 'bundle')} stored); "
        f"{counted(summary.versions_skipped, 'version')} already there."
    )
    if summary.official_added:
        say.print(f"The file marks {counted(summary.official_added, 'new widget')} as official.")
    if summary.texts_cleaned:
        texts = counted(summary.texts_cleaned, "text")
        say.print(f"Removed control and invisible characters from {texts}.")


def _is_served(node: "Node") -> bool:
    from ..core.data_folder import FolderInUse, ServiceLock

    try:
        ServiceLock(node.folder.path, node.folder.service_lock).check()
    except FolderInUse:
        return True
    return False


def import_file(
    node: "Node",
    file: Path | None,
    settings: Settings,
    *,
    into_owned: bool = False,
    is_lenient: bool = False,
    is_alone: bool = False,
) -> "ImportSummary":
    """Import a file, or standard input if it is None, with a progress bar."""
    from ..catalog.node.node import make_index_ready
    from ..core.progress import reading_lines
    from .import_catalog import import_catalog

    with reading_lines(say, file) as (lines, advance):
        return import_catalog(
            node.store,
            node.bundles,
            lines,
            Path.cwd() if file is None else file.parent,
            settings.max_bundle_bytes,
            advance,
            file_name="standard input" if file is None else file.name,
            into_owned=into_owned,
            is_lenient=is_lenient,
            is_alone=is_alone,
            make_index_ready=partial(make_index_ready, node),
        )


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The file to write; - for standard output.")
    ],
    bundles: Annotated[
        bool,
        typer.Option(
            help="Copy stored bundles into bundles/ next to the file, or refer to them by URL.",
            show_default="copy",
        ),
    ] = True,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Export the whole catalog to a file, one widget per line, for `import`.

    On standard output, bundles are referred to by URL.
    """
    from ..catalog.store.widgets import count_widgets
    from ..core.progress import counting
    from .export_catalog import copied_to, export_catalog, linked_to, replacing

    settings = load_settings({"data": data}, config)
    store, stored = _open_to_export(settings)
    with store.reading() as connection:
        total = count_widgets(connection)
    if file == "-":
        sys.stdout.buffer.writelines(export_catalog(store, linked_to(settings.cdn_url)))
        sys.stdout.buffer.flush()
        return
    target = Path(file)
    if target.is_dir():
        fail(f"{target} is a folder; pass a file name.")
    named = copied_to(target.parent, stored) if bundles else linked_to(settings.cdn_url)
    try:
        with replacing(target) as output, counting(say, "Exporting", total) as advance:
            for line in export_catalog(store, named):
                output.write(line)
                advance(1)
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}.")
    say.print(f"Wrote {counted(total, 'widget')} to {escape(str(target))}.")


def _open_to_export(settings: Settings) -> tuple["Store", "Bundles"]:
    """Opens the catalog without changing it if the disk is read-only, as a failing one becomes."""
    from ..catalog.node.opening import bundles_in, open_to_read

    if settings.database or os.access(settings.data, os.W_OK):
        node = existing_node(settings)
        return node.store, node.bundles
    require_catalog(settings)
    bundles = bundles_in(DataFolder(settings.data), settings.backends)
    return open_to_read(settings.data), bundles


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
    from ..core.db.listening import find_nodes
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


def _folder(settings: Settings, *, is_new: bool) -> "Location":
    from dataclasses import replace

    from ..catalog.node.node import prepare_node
    from ..catalog.node.opening import open_secret_box
    from ..catalog.replica.file import discard
    from ..core.data_folder import ServiceLock
    from .move_catalog import Location

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
    return Location(node.store, node.bundles, open_secret_box(folder, alone))


def _shared(settings: Settings) -> "Location":
    """Data without a shared backend stays in the folder."""
    from ..catalog.node.node import prepare_node
    from ..catalog.node.opening import check_bundles, open_secret_box
    from .move_catalog import Location

    check_bundles(settings.backends)
    node = prepare_node(
        settings.data,
        backends=Backends(settings.database, settings.backends.bundles),
        applies=not settings.database,
        on_wait=report,
    )
    return Location(node.store, node.bundles, open_secret_box(DataFolder(settings.data), settings))


FEATURE = Feature(
    name="transfer",
    commands=(
        Command(
            import_,
            DATA,
            ("import widgets.ndjson", "import - --data /var/lib/catalog < widgets.ndjson"),
            name="import",
        ),
        Command(
            export, DATA, ("export backup/catalog.ndjson", "export - | gzip > catalog.ndjson.gz")
        ),
        Command(
            move, DATA, ("move --to-database postgresql://db/catalog --to-bundles s3://bundles",)
        ),
    ),
)
