"""Collections: widgets chosen by the operator, shown on the front page."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..core.commands import PEOPLE, Command
from ..core.features import Feature, value_of
from .commands import collections

if TYPE_CHECKING:
    from ..core.hooks import Hooks


def _hooks() -> "Hooks":
    from ..catalog.collections import add_collections, list_collections
    from . import managing  # noqa: F401 - so that the audit log can name its events.
    from .store import add_all, list_all

    return {add_collections: add_all, list_collections: list_all}


FEATURE = Feature(
    name="collections",
    templates=Path(__file__).parent / "templates",
    links={"operate": (("/operate/collections", "Collections"),)},
    texts={"operator_can": "manage collections"},
    tables=("widget_catalog.collections.store",),
    commands=(Command(collections, PEOPLE),),
    hooks=_hooks,
    routes=value_of("widget_catalog.collections.endpoints:ROUTES"),
)
