"""The services available to a worker's handlers, built from the settings."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..catalog.node.opening import open_keys
from ..catalog.settings import CatalogSettings
from ..core.data_folder import DataFolder
from ..core.db.engine import Store
from ..core.features import installed, list_contributions
from ..core.files.cache import StoreWatch
from ..core.files.contract import Bundles, Uploads
from ..core.http.metrics import Readings
from ..core.http.rendering import PageRenderer
from ..core.http.services import Services
from ..core.settings import Settings

if TYPE_CHECKING:
    from ..catalog.api.cdn import Cdn
    from ..catalog.catalog import Catalog
    from ..catalog.count_download import DownloadCounter
    from ..core.http.receiving import Receiver


def build_services(
    folder: DataFolder,
    store: Store,
    bundles: Bundles,
    check_bundles: Callable[[], None],
    uploads: Uploads,
    settings: Settings,
    applied_seq: Callable[[], int],
) -> Services:
    """The services of the catalog and of every feature."""
    services = Services(
        store=store,
        bundles=bundles,
        check_bundles=check_bundles,
        uploads=uploads,
        settings=settings,
        keys=open_keys(folder, store, settings),
        renderer=PageRenderer(
            settings.service_name,
            settings.public_url,
            list_contributions(),
            has_dashboard=settings.of(CatalogSettings).dashboard,
        ),
        applied_seq=applied_seq,
    )
    for feature in installed():
        for service in feature.services(services):
            services.provide(service)
    return services


def read_worker(
    stores: Sequence[Store],
    catalog: "Catalog",
    counter: "DownloadCounter",
    cdn: "Cdn",
    receiver: "Receiver",
    store_watch: StoreWatch | None,
) -> Readings:
    """Metrics of a worker other than requests."""
    used, idle = zip(*(it.connections() for it in stores), strict=True)
    return Readings(
        catalog.cache_misses | {"cdn": cdn.fetches},
        counter.counted,
        counter.commits,
        counter.waiting,
        sum(used),
        sum(idle),
        receiver.in_progress,
        store_watch is not None and store_watch.is_failing,
    )
