"""The catalog itself: widgets, search, the public API, the public pages."""

from ..core.commands.registering import DATA, Command
from ..core.features import Feature
from .commands import stats
from .settings import CatalogSettings

FEATURE = Feature(
    name="catalog",
    tables=(
        "widget_catalog.core.db.node_tables",
        "widget_catalog.catalog.store.count_table",
        "widget_catalog.catalog.store.files",
        "widget_catalog.catalog.store.revocations",
        "widget_catalog.catalog.store.staging",
    ),
    settings=CatalogSettings,
    commands=(Command(stats, DATA),),
)
