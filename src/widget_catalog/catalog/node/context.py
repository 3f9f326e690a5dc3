"""Shared by all commands: opening the catalog, output, and errors."""

import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from ...core.commands import HELP_OPTIONS
from ...core.data_folder import DataFolder
from ...core.load_settings import load_settings
from ...core.settings import Settings

if TYPE_CHECKING:
    from .node import Node

say = Console(stderr=True, highlight=False, soft_wrap=True)

_UNITS_S = {"s": 1, "m": 60, "h": 3600}
_SHOWN = 20

WHERE = "Catalog and settings"

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="FOLDER",
        help="The data folder of the catalog.",
        show_default="data",
        rich_help_panel=WHERE,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A TOML file with settings.",
        show_default=False,
        rich_help_panel=WHERE,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def command_group(name: str, about: str, *, is_a_command: bool = False) -> typer.Typer:
    """A group of commands. One that is itself a command can be run without a subcommand."""
    return typer.Typer(
        name=name,
        help=about,
        no_args_is_help=not is_a_command,
        invoke_without_command=is_a_command,
        add_completion=False,
        context_settings={"help_option_names": HELP_OPTIONS},
    )


def open_existing(data: Path | None, config: Path | None) -> "Node":
    """The catalog in a folder. The service may be running, and shows changes immediately."""
    return existing_node(load_settings({"data": data}, config))


def existing_node(settings: Settings, *, reads_replica: bool = False) -> "Node":
    require_catalog(settings)
    node = command_node(settings, reads_replica=reads_replica)
    finish_interrupted_import(node)
    return node


def command_node(settings: Settings, *, reads_replica: bool = False) -> "Node":
    """The catalog, which may be new. One shared by nodes has no read model here, unless the
    command reads it: the nodes apply the changes.
    """
    from .node import prepare_node

    return prepare_node(
        settings.data,
        backends=settings.backends,
        applies=reads_replica or not settings.database,
        on_wait=report,
    )


def finish_interrupted_import(node: "Node") -> None:
    """Complete the import of a killed process, as a service would."""
    from ..reading.accepted_import import finish_import
    from .node import make_index_ready

    finish_import(node.store, partial(make_index_ready, node))


def require_catalog(settings: Settings) -> None:
    from .opening import check_is_folder, require_no_loss

    if settings.database:
        return
    if not settings.data.exists():
        fail(f"There is no data folder {settings.data}.")
    check_is_folder(settings.data)
    require_no_loss(DataFolder(settings.data))
    if not DataFolder(settings.data).database.exists():
        fail(f"There is no catalog in the folder {settings.data}.")


def require_folder(settings: Settings, what: str) -> None:
    """For commands that only use the files of a data folder."""
    if settings.database:
        fail(f"This catalog is in PostgreSQL, {what} See docs/scaling.md.")


def seconds_of(every: str) -> float:
    """The value of `--every`."""
    found = re.fullmatch(r"(\d{1,9})([smh])", every)
    if found is None or int(found[1]) == 0:
        fail(f"--every {every}: write a number followed by s, m or h, such as 30s.")
    return int(found[1]) * _UNITS_S[found[2]]


def fail(message: str) -> NoReturn:
    # Messages may quote square brackets, which are not markup.
    say.print(f"[red]Error:[/] {escape(message)}")
    sys.exit(1)


def report(sentence: str) -> None:
    say.print(escape(sentence))


def say_some(label: str, sentences: Sequence[str]) -> None:
    """The first of them, each after a label with markup; a damaged disk may cause thousands."""
    for sentence in sentences[:_SHOWN]:
        say.print(f"{label} {escape(sentence)}")
    if len(sentences) > _SHOWN:
        say.print(f"{label} … and {len(sentences) - _SHOWN:,} more.")
