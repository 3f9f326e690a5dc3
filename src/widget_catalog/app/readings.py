"""The metrics of a worker, besides requests; and DamageWatch: what it does about damaged bundles on
its disk, and how much it has found.
"""

from functools import partial
from pathlib import Path

import structlog

from ..catalog.api.cdn import Cdn
from ..catalog.api.event_streams import EventStreams
from ..catalog.reading.catalog import CatalogReader
from ..catalog.reading.count_download import DownloadCounter
from ..catalog.replica.node_status import NodeStatus
from ..catalog.replica.replica import Replica
from ..core.db.engine import Store
from ..core.files.cache import StoreWatch
from ..core.files.compressed_forms import encoding_of
from ..core.files.verified_files import remove_damaged, set_aside
from ..core.http.metrics import Reading, process_readings
from ..core.http.receiving import Receiver
from ..core.settings import Settings

_log = structlog.get_logger("widget_catalog.bundles")


class DamageWatch:
    def __init__(self, settings: Settings, replica: Replica) -> None:
        self._replica = replica
        self._is_cache = settings.backends.bundles is not None
        self.found_in_bundles = 0

    @property
    def found_in_replica(self) -> int:
        return self._replica.healing.found

    def note_file(self, path: Path) -> None:
        """What is cached or derived is removed, and fetched or made again; another file is renamed,
        so that no process serves it.
        """
        is_form = encoding_of(path) is not None
        is_damaged = (remove_damaged if is_form or self._is_cache else set_aside)(path)
        if not is_damaged:
            return
        if is_form:
            _log.error("A compressed bundle was damaged; it is made again.", file=str(path))
        elif self._is_cache:
            _log.error("A cached bundle was damaged; it is fetched again.", file=str(path))
        else:
            _log.error("A stored bundle is damaged. Run doctor.", file=str(path))
        self.found_in_bundles += 1


def list_readings(
    stores: tuple[Store, ...],
    catalog: CatalogReader,
    counter: DownloadCounter,
    cdn: Cdn,
    receiver: Receiver,
    store_watch: StoreWatch | None,
    damage: DamageWatch,
    streams: EventStreams,
) -> list[Reading]:

    def count_misses() -> dict[str, int]:
        return catalog.cache_misses | {"cdn": cdn.fetches}

    def count_connections() -> dict[str, int]:
        used, idle = zip(*(it.connections() for it in stores), strict=True)
        return {"used": sum(used), "idle": sum(idle)}

    def count_damage() -> dict[str, int]:
        return {"replica": damage.found_in_replica, "bundles": damage.found_in_bundles}

    counter_of = partial(Reading, is_counter=True)
    return [
        counter_of(
            "cache_misses", "Responses and bundles that were in no cache.", count_misses, "route"
        ),
        counter_of("downloads_counted", "Downloads that were counted.", lambda: counter.counted),
        counter_of("count_commits", "Commits that they were counted in.", lambda: counter.commits),
        counter_of(
            "damage_found", "Damaged records and files that were read.", count_damage, "where"
        ),
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
        Reading("event_streams", "Open event streams.", lambda: streams.count),
        *process_readings(),
    ]


def follower_readings(status: NodeStatus) -> list[Reading]:
    """What a node knows about the database that it shares with others."""
    behind = "For how long this node has been behind or cut off."
    unapplied = "Changes of the catalog that are not applied yet."
    return [
        Reading("database_up", "1 while the database answers.", status.is_database_up),
        Reading("lag_changes", unapplied, lambda: status.lag_changes),
        Reading("lag_seconds", behind, lambda: status.lag_s),
    ]
