"""`widget-catalog collection …`."""

import json

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    JsonOption,
    command_group,
    open_existing,
    report,
)

collections = command_group("collection", "Collections of widgets, which operators make.")


@collections.command("list")
def list_(
    as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None
) -> None:
    """List the collections in their order; with --json, completely, as the internal API has them.

    Operators create and change them in a browser, at /operate/collections.
    """
    from .endpoints import shown
    from .store import list_all

    with open_existing(data, config).store.reading() as connection:
        found = list_all(connection)
    if as_json:
        print(json.dumps([shown(it) for it in found], indent=2))  # noqa: T201
        return
    for it in found:
        widgets = "1 widget" if len(it.widgets) == 1 else f"{len(it.widgets)} widgets"
        featured = ", featured" if it.is_featured else ""
        report(f"{it.slug}  {it.title} ({widgets}{featured})")
    if not found:
        report("There are no collections.")
