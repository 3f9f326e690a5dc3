"""The metrics of a worker, besides requests."""

from ..catalog.api.cdn import Cdn
from ..catalog.api.event_streams import EventStreams
from ..catalog.catalog import Catalog
from ..catalog.count_download import DownloadCounter
from ..core.db.engine import Store
from ..core.files.cache import StoreWatch
from ..core.http.metrics import Reading
from ..core.http.process_readings import process_counters, process_gauges
from ..core.http.receiving import Receiver
from .damage_watch import DamageWatch


def list_readings(
    stores: tuple[Store, ...],
    catalog: Catalog,
    counter: DownloadCounter,
    cdn: Cdn,
    receiver: Receiver,
    store_watch: StoreWatch | None,
    damage: DamageWatch,
    streams: EventStreams,
) -> tuple[list[Reading], list[Reading]]:
    """Counters and gauges."""

    def count_misses() -> dict[str, int]:
        return catalog.cache_misses | {"cdn": cdn.fetches}

    def count_connections() -> dict[str, int]:
        used, idle = zip(*(it.connections() for it in stores), strict=True)
        return {"used": sum(used), "idle": sum(idle)}

    def count_damage() -> dict[str, int]:
        return {"replica": damage.found_in_replica, "bundles": damage.found_in_bundles}

    counters = [
        Reading(
            "cache_misses", "Responses and bundles that were in no cache.", count_misses, "route"
        ),
        Reading("downloads_counted", "Downloads that were counted.", lambda: counter.counted),
        Reading("count_commits", "Commits that they were counted in.", lambda: counter.commits),
        Reading("damage_found", "Damaged records and files that were read.", count_damage, "where"),
        Reading(
            "bundles_scrubbed", "Bundles that were read to verify them.", lambda: damage.scrubbed
        ),
    ]
    gauges = [
        Reading("counts_waiting", "Downloads that are not committed yet.", lambda: counter.waiting),
        Reading("database_connections", "Connections to the database.", count_connections, "state"),
        Reading(
            "uploads_in_progress", "Files that are being uploaded.", lambda: receiver.in_progress
        ),
        Reading(
            "bundle_store_down",
            "Workers that the object store fails.",
            lambda: store_watch is not None and store_watch.is_failing,
        ),
    ]
    gauges += [Reading("event_streams", "Open event streams.", lambda: streams.count)]
    return counters + process_counters(), gauges + process_gauges()
