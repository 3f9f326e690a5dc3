"""`widget-catalog doctor`: checks a data folder, and repairs what can be rebuilt."""

import sysconfig
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    fail,
    finish_interrupted_import,
    report,
    require_catalog,
    say,
    say_some,
)
from ..core.clock import counted
from ..core.data_folder import DataFolder
from ..core.load_settings import find_exposed_secrets, load_settings
from ..core.settings import Settings

if TYPE_CHECKING:
    from ..catalog.node.node import Node
    from .doctor import Aside, Findings


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
    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    node, findings = _check(settings, rebuilds=rebuild)
    say.print(
        f"Checked {counted(findings.widgets, 'widget')} and "
        f"{counted(findings.bundles, 'stored bundle')}."
    )
    _print_notes(node, config)
    say_some("[red]Error:[/]", findings.errors)
    if clean:
        findings.orphans = clean_up(node, findings.orphans, is_dry=dry_run, is_forced=force)
    if delete_aside is not None:
        forget_aside(node, delete_aside, is_dry=dry_run)
    say_some("[yellow]Orphan:[/] no version refers to", findings.orphans)
    if findings.orphans:
        say.print(explain_orphans(node, findings.orphans))
    _print_mended(findings)
    _print_outcome(node.folder, findings)


def _check(settings: Settings, *, rebuilds: bool) -> tuple["Node", "Findings"]:
    """The opened catalog, and what was found and repaired."""
    from ..accounts.second_factor.managing import find_app_errors
    from ..catalog.node.node import prepare_node
    from ..catalog.node.opening import check_writable, make_folder, open_secret_box
    from ..core.db.listening import find_other_secrets
    from ..core.progress import counting
    from .doctor import check_catalog

    folder = DataFolder(settings.data)
    if settings.database:
        make_folder(folder)
    check_writable(settings.data)
    was_discarded = not settings.database and _check_file(folder)
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
    if rebuilds:
        node.replica.rebuild(node.store, bar)
        say.print("Rebuilt the read model.")
    finish_interrupted_import(node)
    findings = check_catalog(node.store, node.bundles, node.replica, partial(counting, say))
    if was_discarded:
        findings.mended.insert(0, "unused pages of the database were damaged.")
    if not node.is_replica_intact:
        findings.mended.insert(0, "the read model was damaged and has been rebuilt.")
    findings.errors += find_app_errors(node.store, open_secret_box(node.folder, settings))
    findings.errors += find_other_secrets(node.store, settings.secrets)
    return node, findings


def _print_notes(node: "Node", config: Path | None) -> None:
    """What is no damage, but should be known."""
    from ..catalog.store.events import describe_copying

    if (copying := describe_copying(node.store)) is not None:
        say.print(copying)
    if (exposed := find_exposed_secrets(config)) is not None:
        say.print(f"[yellow]Warning:[/] {escape(exposed)}")
    if (slow := describe_slow_build()) is not None:
        say.print(f"[yellow]Note:[/] {escape(slow)}")


def _print_outcome(folder: DataFolder, findings: "Findings") -> None:
    """Exits if problems are left; raises or clears the alarm of the service."""
    from ..core.db.damage import DamageAlarm

    if not findings.is_store_intact:
        DamageAlarm(folder.damage).raise_for(findings.errors[0])
        fail("The database is damaged. Restore it from a backup. The damaged rows were not used.")
    DamageAlarm(folder.damage).clear()
    if not findings.is_healthy:
        raise typer.Exit(1)
    say.print("[green]No problems found.[/]")


def _check_file(folder: DataFolder) -> bool:
    """Exits if the file is unusable; whether damaged pages outside the tables were discarded."""
    from ..core.db.damage import DamageAlarm, check_file, discard_other_pages

    errors = check_file(folder.database)
    if errors.truth:
        DamageAlarm(folder.damage).raise_for(errors.truth[0])
        say_some("[red]Error:[/]", errors.truth)
        fail("The database is damaged. Restore it from a backup.")
    if errors.elsewhere:
        discard_other_pages(folder.database)
    return bool(errors.elsewhere)


def _print_mended(findings: "Findings") -> None:
    say_some("[yellow]Repaired:[/]", findings.mended)
    if findings.counts_mended:
        say.print(
            f"[yellow]Repaired:[/] {counted(findings.counts_mended, 'download count')} in memory "
            "differed from the database."
        )


_WOULD_REFUSE = (
    " --clean refuses this without --force: the database may be an old one, or belong to another "
    "catalog."
)


def explain_orphans(node: "Node", orphans: list[str]) -> str:
    """The origin of such files, and what to do about them."""
    from .doctor import find_orphans

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
    from .doctor import find_orphans, quarantine

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
        moved = quarantine(
            node.store, node.bundles, node.folder.path, suspects, is_forced=is_forced
        )
        report(
            f"Moved {_amount(moved)} that no version refers to into {moved.folder}. Delete that "
            "folder when you are sure that nothing is missing."
        )
    tidy_uploads(node.store, node.bundles, node.uploads)
    return []


def forget_aside(node: "Node", days: int, *, is_dry: bool) -> None:
    """Delete files that were moved aside that many days ago, or report which ones."""
    from ..core import clock
    from .doctor import delete_aside, list_aside

    for aside in list_aside(node.folder.path, timedelta(days=days), clock.now()):
        if is_dry:
            report(f"Would delete {aside.folder} ({_amount(aside)}).")
            continue
        delete_aside(aside)
        report(f"Deleted {aside.folder} ({_amount(aside)}).")


def _amount(aside: "Aside") -> str:
    return f"{counted(aside.files, 'file')} ({decimal(aside.size_bytes)})"


_SLOW = (
    "This Python was built without profile-guided optimization. One that was, such as Debian's, "
    "needs 0.65 to 0.93 of the time for the same requests."
)


def describe_slow_build() -> str | None:
    """None if it is optimized. A distribution may build the optimized target itself, as Debian
    does: then the flag is missing, but the build no longer names a profile to be used, which
    every other one does.
    """
    flags = sysconfig.get_config_var("CONFIG_ARGS") or ""
    is_optimized = "--enable-optimizations" in flags
    is_plain = "-fprofile" in (sysconfig.get_config_var("PGO_PROF_USE_FLAG") or "")
    return _SLOW if is_plain and not is_optimized else None
