"""The catalog itself: widgets, search, the public API, the public pages."""

from collections.abc import Sequence
from pathlib import Path

from ..core.commands.registering import DATA, Command
from ..core.features import Closeable, Feature, WorkerContext
from .commands import stats
from .settings import CatalogSettings


def _start(worker: WorkerContext) -> Sequence[Closeable]:
    from .accepted_import import watch_imports

    return (watch_imports(worker.services.store),)


FEATURE = Feature(
    name="catalog",
    templates=Path(__file__).parent / "templates",
    tables=(
        "widget_catalog.core.db.node_tables",
        "widget_catalog.catalog.store.downloads",
        "widget_catalog.catalog.store.files",
        "widget_catalog.catalog.store.revocations",
        "widget_catalog.catalog.store.staging",
    ),
    settings=CatalogSettings,
    commands=(Command(stats, DATA),),
    start=_start,
)
