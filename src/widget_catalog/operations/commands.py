"""`widget-catalog audit`: the audit log, newest first. `widget-catalog stats`: how much is in the
catalog.
"""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    JsonOption,
    open_existing,
    require_catalog,
)
from ..core.load_settings import load_settings

if TYPE_CHECKING:
    from ..catalog.store.audit import AuditEntry


def audit(
    scope: Annotated[
        str | None, typer.Option(help="Only entries of this scope (account or organization).")
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="Number of entries, up to 10,000.")
    ] = 50,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Print the audit log: who did what, when and why, with which client, from which address."""
    from ..catalog.store.audit import list_entries, shown_entry

    with open_existing(data, config).store.reading() as connection:
        entries, _ = list_entries(connection, scope, None, 1, limit)
    if as_json:
        print(json.dumps([shown_entry(it) for it in entries], indent=2))  # noqa: T201
        return
    for entry in entries:
        print(_line(entry))  # noqa: T201


def _line(entry: "AuditEntry") -> str:
    from widget_contract.texts import printable

    from ..core.clock import from_ms

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
    details = " ".join(f"{key}={json.dumps(value)}" for key, value in entry.telling_details.items())
    return printable("  ".join([*parts, details] if details else parts))


def stats(data: DataOption = None, config: ConfigOption = None) -> None:
    """Print statistics of the catalog as JSON, like /api/stats."""
    import msgspec

    from ..catalog.node.opening import open_to_read
    from ..catalog.store.widgets import count_listed
    from ..core.clock import from_ms, iso

    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    # From the store only: nothing is opened for writing, or rebuilt.
    store = open_to_read(settings.data, settings.backends)
    with store.reading() as connection:
        totals = count_listed(connection)
    shown = {**totals._asdict(), "generatedAt": iso(from_ms(store.now_ms()))}
    print(msgspec.json.encode(shown).decode())  # noqa: T201
