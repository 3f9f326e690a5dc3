"""Collections: widgets chosen by the operator, shown on the front page; and `widget-catalog
collection`.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    JsonOption,
    command_group,
    open_existing,
    report,
)
from ..core.commands import PEOPLE, Command
from ..core.features import Feature, call_of, value_of

if TYPE_CHECKING:
    from ..core.hooks import Hooks


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
    for collection in found:
        widgets = (
            "1 widget" if len(collection.widgets) == 1 else f"{len(collection.widgets)} widgets"
        )
        featured = ", featured" if collection.is_featured else ""
        report(f"{collection.slug}  {collection.title} ({widgets}{featured})")
    if not found:
        report("There are no collections.")


def _hooks() -> "Hooks":
    from . import managing  # noqa: F401 - so that the audit log can name its events.

    return {}


FEATURE = Feature(
    name="collections",
    templates=Path(__file__).parent / "templates",
    links={"operate": (("/operate/collections", "Collections"),)},
    texts={"operator_can": "manage collections"},
    tables=("widget_catalog.collections.store",),
    commands=(Command(collections, PEOPLE),),
    hooks=_hooks,
    public_pages=call_of("widget_catalog.collections.public_pages:CollectionPages"),
    add_examples=call_of("widget_catalog.collections.examples:add_examples"),
    routes=value_of("widget_catalog.collections.endpoints:ROUTES"),
)
