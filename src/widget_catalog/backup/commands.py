"""`widget-catalog backup` and `restore`."""

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
    report,
    require_catalog,
    require_folder,
    say,
    say_some,
)
from ..core.clock import counted
from ..core.data_folder import DataFolder
from ..core.errors import DataDamaged
from ..core.load_settings import load_settings

if TYPE_CHECKING:
    from ..core.settings import Settings
    from .layout import BackupManifest
    from .writer import BackupResult

_KEPT = 10
# With one of these extensions, a file is meant, not a folder.
_OTHER_FILES = frozenset(
    ".7z .bak .bz2 .db .gz .rar .sql .sqlite .tar .tbz2 .tgz .txz .tzst .xz .zip .zst".split()
)


def backup(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A folder, or a file with the suffix .tar.zst.",
            show_default=False,
        ),
    ],
    keep: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of snapshots to keep in a folder.")
    ] = _KEPT,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Back up the catalog: its database and every stored bundle. The service may be running.

    A folder gets a snapshot of the database, and only those bundles that it does not have yet,
    or not in their size; restore --check reads all of them. A file is replaced as a whole. What
    is written is verified before it counts; an interrupted backup leaves the last one as it was.

    second-factor.key is not in it: keep a copy of that file elsewhere. Exit code 1: no backup
    was made, or stored bundles are missing from it.
    """
    from .layout import ARCHIVE_SUFFIX

    settings = load_settings({"data": data}, config)
    require_folder(settings, "which has its own backup tools: use pg_dump or PITR.")
    require_catalog(settings)
    path = Path(target)
    is_file = path.name.endswith(ARCHIVE_SUFFIX) and not path.is_dir()
    _check_target(path, is_file=is_file)
    made = _back_up(settings, path, keep=None if is_file else keep)
    report(f"Backed up {_summary(made.manifest)} to {made.path}.")
    if not is_file:
        report(f"Copied {counted(made.bundles_copied, 'bundle')} that were not in the folder yet.")
    what = "had the wrong size in the backup and has been copied again."
    say_some("[yellow]Repaired:[/]", [f"{it} {what}" for it in made.repaired])
    _warn_of_key(made.manifest, settings.data / "second-factor.key")
    _report_missing(made.manifest)


def _check_target(path: Path, *, is_file: bool) -> None:
    """Exits if it looks like a file that no backup can be."""
    from .layout import ARCHIVE_SUFFIX

    if path.is_file() and not is_file:
        fail(f"{path} is a file. Pass a folder, or a file with the suffix {ARCHIVE_SUFFIX}.")
    if not is_file and not path.is_dir() and path.suffix.lower() in _OTHER_FILES:
        fail(
            f"{path}: a backup is a folder, or a file with the suffix {ARCHIVE_SUFFIX}. To back "
            "up to a folder with this name, create it first."
        )


def _back_up(settings: "Settings", path: Path, keep: int | None) -> "BackupResult":
    """To a folder, which keeps that many snapshots, or to a file."""
    from ..catalog.node.opening import bundles_in
    from ..core.progress import counting
    from .writer import BackupSource, FolderBackup, back_up_to_file

    folder = DataFolder(settings.data)
    source = BackupSource(folder, bundles_in(folder, settings.backends))
    bar = partial(counting, say)
    try:
        if keep is None:
            return back_up_to_file(path, source, bar)
        target = FolderBackup(path, source, keep, bar)
        with target.locked():
            return target.add_snapshot()
    except DataDamaged as error:
        from ..core.db.damage import DamageAlarm

        # The service that runs there shows it.
        DamageAlarm(folder.damage).raise_for(error.message)
        raise


def restore(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="The backup: a folder or a file.",
            show_default=False,
            readable=False,
        ),
    ],
    snapshot: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The snapshot of a folder, by its name or a prefix of it; see --list.",
            show_default="the newest",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only verify the backup; restore nothing.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="Only list the snapshots of a folder.")
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Restore a backup into a new or empty data folder (--data), and verify all of it.

    Every file is checked against its hash; the database for its integrity, its row counts and
    the checksums of its rows. If anything is wrong, all of it is listed and the folder stays as
    it was. Exit code 1: the backup is damaged, bundles are missing, or nothing was restored.
    """
    from ..core.progress import counting
    from .reader import check_backup
    from .restore import build_replica, restore_backup

    settings = load_settings({"data": data}, config)
    require_folder(settings, "but a backup is restored into a folder: unset database.")
    if not source.exists():
        fail(f"There is no backup {source}.")
    if list_:
        _list_snapshots(source)
        return
    bar = partial(counting, say)
    if check:
        found = check_backup(source, snapshot, bar)
        report(f"The snapshot {found.name} is intact: {_summary(found.manifest)}.")
        _report_missing(found.manifest)
        return
    found = restore_backup(source, settings.data, snapshot, bar)
    made_at, release = found.manifest.made_at, found.manifest.release
    report(f"Restored {_summary(found.manifest)} to {settings.data}.")
    report(f"The backup was created at {made_at} by release {release}.")
    _warn_of_key(found.manifest, settings.data / "second-factor.key", is_restored=True)
    build_replica(settings.data, found.manifest, bar)
    _report_missing(found.manifest)


def _list_snapshots(folder: Path) -> None:
    """Exits if one cannot be read."""
    from .reader import describe

    if not folder.is_dir():
        fail(f"{folder} is a file, and has only one snapshot.")
    snapshots = describe(folder)
    for name, manifest in snapshots.items():
        about = manifest if isinstance(manifest, str) else _summary(manifest)
        print(f"{name}  {about}")  # noqa: T201
    if any(isinstance(it, str) for it in snapshots.values()):
        raise typer.Exit(1)


def _summary(manifest: "BackupManifest") -> str:
    rows = manifest.rows
    return (
        f"{counted(rows.get('widgets', 0), 'widget')}, "
        f"{counted(rows.get('versions', 0), 'version')}, "
        f"{counted(rows.get('accounts', 0), 'account')} and "
        f"{counted(manifest.bundles, 'bundle')} "
        f"({decimal(manifest.database_bytes + manifest.bundle_bytes)})"
    )


def _report_missing(manifest: "BackupManifest") -> None:
    """Exits if bundles are missing."""
    what = "was missing or damaged when it was copied."
    say_some("[yellow]Missing:[/]", [f"{it} {what}" for it in manifest.missing])
    if manifest.missing:
        raise typer.Exit(1)


def _warn_of_key(manifest: "BackupManifest", key: Path, *, is_restored: bool = False) -> None:
    """Authenticator apps need this key, which no backup contains: see docs/security.md."""
    apps = manifest.rows.get("authenticator_apps", 0)
    if not apps:
        return
    people = "1 account uses" if apps == 1 else f"{apps:,} accounts use"
    advice = (
        f"Copy your second-factor.key to {key} before you start the service."
        if is_restored
        else f"Keep a copy of {key} elsewhere; it does not change."
    )
    say.print(
        f"[yellow]Note:[/] {people} an authenticator app. The key of these apps is not in the "
        f"backup. {escape(advice)}"
    )
