"""The catalog itself: widgets, search, the public API, the public pages."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.features import Closeable, Feature, WorkerContext, value_of
from .model.settings import CatalogSettings

if TYPE_CHECKING:
    from ..core.db.engine import Store
    from ..core.files.contract import Bundles, Uploads


def _start(worker: WorkerContext) -> Sequence[Closeable]:
    from .reading.accepted_import import watch_imports

    return (watch_imports(worker.services.store, worker.services.notifications),)


def _on_start(store: "Store", bundles: "Bundles", _uploads: "Uploads") -> None:
    from .store.files import withdraw_files

    withdraw_files(store, bundles)


FEATURE = Feature(
    name="catalog",
    tables=(
        "widget_catalog.catalog.store.tables",
        "widget_catalog.catalog.store.downloads",
        "widget_catalog.catalog.store.files",
        "widget_catalog.catalog.store.revocations",
        "widget_catalog.catalog.store.staging",
    ),
    settings=CatalogSettings,
    hooks=value_of("widget_catalog.catalog.reading.accepted_import:HOOKS"),
    on_start=_on_start,
    start=_start,
)
