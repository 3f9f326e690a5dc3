"""Data folders: an empty one without the cost of a migration, filled ones, and copies."""

import os
import shutil
from pathlib import Path
from typing import Any

from support.run_folder import made_once
from support.widgets import import_widgets
from widget_catalog.catalog.node.node import open_node, prepare_node


def empty_folder(data: Path) -> Path:
    """A new data folder as created by the first start: migrating takes thirty times as long."""
    data.parent.mkdir(parents=True, exist_ok=True)
    copy_folder(made_once("empty", _prepare), data)
    return data


def _prepare(data: Path) -> None:
    prepare_node(data).store.close()


def copy_folder(source: Path, target: Path) -> None:
    """Copy a data folder that no process has open; sparse files stay sparse."""
    shutil.copytree(source, target, copy_function=_copy_sparse)


def _copy_sparse(source: str, target: str) -> None:
    with Path(source).open("rb") as given, Path(target).open("wb") as made:
        size = os.fstat(given.fileno()).st_size
        made.truncate(size)
        done = 0
        while done < size:
            try:
                done = os.lseek(given.fileno(), done, os.SEEK_DATA)
            except OSError:  # Only a hole is left.
                break
            until = os.lseek(given.fileno(), done, os.SEEK_HOLE)
            while done < until:
                piece = os.pread(given.fileno(), min(until - done, 1 << 20), done)
                done += os.pwrite(made.fileno(), piece, done)
    shutil.copymode(source, target)


def filled_folder(data: Path, *lines: dict[str, Any], base_folder: Path | None = None) -> Path:
    """A data folder with these widgets, added if it exists already; `base_folder` is the folder of
    their bundle files.
    """
    node = prepare_node(data) if data.exists() else open_node(empty_folder(data))
    import_widgets(node, *lines, base_folder=base_folder)
    node.store.close()
    return data
