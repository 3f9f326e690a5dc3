"""`widget-catalog import` and `export`."""

import contextlib
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
    require_catalog,
    say,
)
from ..core.settings import Settings, load_settings

if TYPE_CHECKING:
    from ..catalog.node.wiring import Node
    from ..core.db.engine import Store
    from ..core.files.contract import Bundles
    from .import_checks import ImportSummary


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
        typer.Option("--lenient", help="Remove control and invisible characters from texts."),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Import widgets from a file: all of them, or none if there is an error.

    Versions that are already published are skipped; a different hash is an error. The service may
    be running. Exit code 1: the errors are listed, nothing was imported.
    """
    from ..catalog.node.opening import undone_on_failure
    from ..core.amounts import counted

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
        marked = counted(summary.official_added, "new widget")
        say.print(f"The file marks {marked} as official.")
    if summary.texts_cleaned:
        say.print(
            "Removed control and invisible characters from "
            f"{counted(summary.texts_cleaned, 'text')}."
        )


def _is_served(node: "Node") -> bool:
    from ..core.service_lock import FolderInUse, ServiceLock

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
    from ..catalog.node.wiring import make_index_ready
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
    from ..core.amounts import counted
    from ..core.progress import counting
    from .export_catalog import copied_to, export_catalog, linked_to

    settings = load_settings({"data": data}, config)
    store, stored = _open_to_export(settings)
    with store.reading() as connection:
        total = count_widgets(connection)
    if file == "-":
        for line in export_catalog(store, linked_to(settings.cdn_url)):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    target = Path(file)
    if target.is_dir():
        fail(f"{target} is a folder; pass a file name.")
    partial = target.with_name(f".{target.name}.part")
    files_of = copied_to(target.parent, stored) if bundles else linked_to(settings.cdn_url)
    try:
        with partial.open("wb") as output, counting(say, "Exporting", total) as advance:
            for line in export_catalog(store, files_of):
                output.write(line)
                advance(1)
        partial.replace(target)
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}.")
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    say.print(f"Wrote {counted(total, 'widget')} to {escape(str(target))}.")


def _open_to_export(settings: Settings) -> tuple["Store", "Bundles"]:
    """Also works on a read-only disk, as a failing one is remounted; then nothing is changed."""
    from ..catalog.node.opening import bundles_in, open_to_read
    from ..core.data_folder import DataFolder

    if settings.database or os.access(settings.data, os.W_OK):
        node = existing_node(settings)
        return node.store, node.bundles
    require_catalog(settings)
    bundles = bundles_in(DataFolder(settings.data), settings.backends)
    return open_to_read(settings.data), bundles
