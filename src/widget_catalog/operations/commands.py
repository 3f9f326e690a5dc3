"""`widget-catalog doctor`: checks a data folder, and repairs what can be rebuilt."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    fail,
    finish_interrupted_import,
    report,
    require_catalog,
    say,
)
from ..core.settings import find_exposed_secrets, load_settings

if TYPE_CHECKING:
    from .check_catalog import Findings

# Per kind; a damaged disk may cause thousands.
_SHOWN = 20


def doctor(
    clean: Annotated[
        bool, typer.Option("--clean", help="Move aside stored files that no version refers to.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only print what --clean or --delete-aside would do.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Let --clean move nearly all stored files.")
    ] = False,
    delete_aside: Annotated[
        int | None,
        typer.Option(
            metavar="DAYS", min=0, help="Delete files that were moved aside at least DAYS days ago."
        ),
    ] = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Rebuild the read model from the database in any case."),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Check the database, every stored bundle and the read model, and repair the read model.

    Exit code 1: problems were found. The service may be running. --clean deletes no bundles: it
    moves files into the folder aside in the data folder. --rebuild takes several minutes for a
    million widgets; meanwhile a running service uses the old read model.
    """
    from ..accounts.second_factor.managing import find_app_faults
    from ..catalog.node.opening import check_writable, make_folder, open_secret_box
    from ..catalog.node.wiring import DataFolder, prepare_node
    from ..catalog.store.events import describe_copying
    from ..core.amounts import counted
    from ..core.db.damage import DamageAlarm
    from ..core.db.postgresql import find_other_secrets
    from ..core.db.table_locks import find_stuck_publisher
    from ..core.progress import counting
    from .check_catalog import check_catalog
    from .cleaning import clean_up, explain_orphans, forget_aside

    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    folder = DataFolder(settings.data)
    if settings.database:
        make_folder(folder)
    check_writable(settings.data)
    was_discarded = not settings.database and _check_file(folder.database)
    bar = partial(counting, say, "Building the read model")
    # Counts are not corrected when opening, so that differences can be reported.
    node = prepare_node(
        settings.data,
        backends=settings.backends,
        states_counts=False,
        checks_replica=True,
        bar=bar,
        on_wait=report,
    )
    if rebuild:
        node.replica.rebuild(node.store, bar)
        say.print("Rebuilt the read model.")
    finish_interrupted_import(node)
    findings = check_catalog(node.store, node.bundles, node.replica, partial(counting, say))
    if was_discarded:
        findings.mended.insert(0, "unused pages of the database were damaged.")
    if not node.is_replica_intact:
        findings.mended.insert(0, "the read model was damaged and has been rebuilt.")
    findings.faults += find_app_faults(node.store, open_secret_box(node.folder, settings))
    findings.faults += find_other_secrets(node.store, settings.secrets)
    findings.faults += find_stuck_publisher(node.store)
    say.print(
        f"Checked {counted(findings.widgets, 'widget')} and "
        f"{counted(findings.bundles, 'stored bundle')}."
    )
    if (copying := describe_copying(node.store)) is not None:
        say.print(copying)
    if (exposed := find_exposed_secrets(config)) is not None:
        say.print(f"[yellow]Warning:[/] {escape(exposed)}")
    _print_some("[red]Fault:[/]", findings.faults)
    if clean:
        findings.orphans = clean_up(node, findings.orphans, is_dry=dry_run, is_forced=force)
    if delete_aside is not None:
        forget_aside(node, delete_aside, is_dry=dry_run)
    _print_some("[yellow]Orphan:[/] no version refers to", findings.orphans)
    if findings.orphans:
        say.print(explain_orphans(node, findings.orphans))
    _print_mended(findings)
    if not findings.is_store_intact:
        fail("The database is damaged. Restore it from a backup. The damaged rows were not used.")
    DamageAlarm(folder.damage).clear()
    if not findings.is_healthy:
        raise typer.Exit(1)
    say.print("[green]No problems found.[/]")


def _check_file(database: Path) -> bool:
    """Exits if the file is unusable. Returns whether damaged pages outside the tables were
    discarded.
    """
    from ..core.db.integrity import check_file, discard_other_pages

    faults = check_file(database)
    if faults.truth:
        _print_some("[red]Fault:[/]", faults.truth)
        fail("The database is damaged. Restore it from a backup.")
    if faults.elsewhere:
        discard_other_pages(database)
    return bool(faults.elsewhere)


def _print_mended(findings: "Findings") -> None:
    from ..core.amounts import counted

    _print_some("[yellow]Repaired:[/]", findings.mended)
    if findings.counts_mended:
        say.print(
            f"[yellow]Repaired:[/] {counted(findings.counts_mended, 'download count')} in memory "
            "differed from the database."
        )


def _print_some(what: str, sentences: list[str]) -> None:
    for sentence in sentences[:_SHOWN]:
        say.print(f"{what} {escape(sentence)}")
    if len(sentences) > _SHOWN:
        say.print(f"{what} … and {len(sentences) - _SHOWN:,} more.")
