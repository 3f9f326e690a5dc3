"""A small catalog with stored bundles, and backups of it."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from support.folders import filled_folder
from support.widgets import version_line, widget_line
from widget_catalog.backup.writer import BackupResult, BackupSource, FolderBackup
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.data_folder import DataFolder
from widget_catalog.core.files.local import LocalBundles
from widget_catalog.transfer.export_catalog import export_catalog, linked_to

STORED: dict[str, Any] = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}


def catalog_with_bundles(folder: Path, bundles: int = 3) -> Path:
    """A data folder whose widgets have a bundle each, and the first one a style sheet, too."""
    lines = []
    for number in range(bundles):
        (folder / f"{number}.js").write_text(f"export default {number};\n")
        version = version_line(bundleFile=f"{number}.js", **STORED)
        if number == 0:
            (folder / "0.css").write_text(":host { display: block }\n")
            version["cssFile"] = "0.css"
        lines.append(widget_line(f"acme/w{number}", versions=[version], downloadCount=number))
    return filled_folder(folder / "data", *lines, widget_line("acme/elsewhere"), base_folder=folder)


def catalog_at(data: Path) -> BackupSource:
    folder = DataFolder(data)
    return BackupSource(folder, LocalBundles(folder.bundles))


def back_up(data: Path, target: Path, keep: int = 10) -> BackupResult:
    backup = FolderBackup(target, catalog_at(data), keep)
    with backup.locked():
        return backup.add_snapshot()


def exported(data: Path) -> bytes:
    node = prepare_node(data)
    try:
        return b"".join(export_catalog(node.store, linked_to("https://catalog.example/cdn")))
    finally:
        node.store.close()


def change_one_letter(database: Path) -> None:
    """Of the text of acme/w1's version, like a bad disk; SQLite does not detect it."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        changed = db.execute(
            "UPDATE versions SET sdk_version = 'X' || substr(sdk_version, 2)"
            " WHERE widget_id = (SELECT id FROM widgets WHERE name = 'w1')"
        )
        assert changed.rowcount == 1
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything in a folder, by its path there."""
    return {
        str(it.relative_to(folder)): it.read_bytes() for it in folder.rglob("*") if it.is_file()
    }
