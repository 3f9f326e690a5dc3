"""`widget-catalog audit`: the audit log, newest first."""

import json
from typing import Annotated

import typer

from ..domain.clock import from_ms
from ..store.audit import Entry, list_entries
from ..web.around import printable
from ..web.internal.audit import shown_entry
from .context import ConfigOption, DataOption, JsonOption, open_existing


def audit(
    scope: Annotated[
        str | None, typer.Option(help="Only of this scope: an account or organization.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many entries.")] = 50,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Print who did what, when and why, with which program, and from which address."""
    with open_existing(data, config).store.reading() as connection:
        entries, _ = list_entries(connection, scope, None, 1, limit)
    if as_json:
        print(json.dumps([shown_entry(it) for it in entries], indent=2))  # noqa: T201
        return
    for entry in entries:
        print(_line(entry))  # noqa: T201


def _line(entry: Entry) -> str:
    what = entry.action
    if entry.name is not None:
        what += f" {entry.scope}/{entry.name}"
    elif entry.scope is not None and entry.scope != entry.actor:
        what += f" {entry.scope}"
    if entry.version is not None:
        what += f" {entry.version}"
    parts = [f"{from_ms(entry.at):%Y-%m-%d %H:%M:%S}", entry.actor, what]
    if entry.client_name is not None:
        parts.append(f"via {entry.via} {entry.client_name}")
    if entry.address is not None:
        parts.append(f"from {entry.address}")
    details = " ".join(f"{key}={json.dumps(value)}" for key, value in entry.details.items())
    return printable("  ".join([*parts, details] if details else parts))
