"""Builds the objects of a worker process.

It is imported before workers are forked, so that they share the memory of its modules.
"""

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import structlog

from ..catalog.api.api import PublicApi
from ..catalog.api.cdn import Cdn
from ..catalog.api.event_streams import EventStreams
from ..catalog.api.health import Health, Healthz
from ..catalog.api.sandbox_frame import SandboxFrame
from ..catalog.model.settings import CatalogSettings
from ..catalog.node.node import Node, open_catalog, open_node
from ..catalog.node.opening import files_of, open_keys
from ..catalog.reading.catalog import CatalogReader
from ..catalog.reading.count_download import DownloadCounter
from ..catalog.reading.encode_bundles import BundleEncoder
from ..catalog.replica.file import release_memory
from ..catalog.replica.integrity import is_intact
from ..catalog.replica.node_status import NodeStatus
from ..catalog.replica.reader import ReplicaReader
from ..catalog.store.feed import newest_change
from ..core import clock
from ..core.clock import Clock, JumpWatch
from ..core.current_settings import CurrentSettings
from ..core.db.damage import DamageAlarm
from ..core.db.file_lock import DEDICATED, SERVICE
from ..core.errors import DataDamaged, StoreUnavailable
from ..core.features import Closeable, WorkerContext, installed, list_contributions
from ..core.files.cache import StoreWatch
from ..core.http.dispatcher import Dispatcher
from ..core.http.http import (
    Handler,
    Worker,
    never_now,
)
from ..core.http.language_choice import Languages
from ..core.http.metrics import Metrics, Reading, WorkerMetrics, open_metrics
from ..core.http.middleware import (
    access_logged,
    has_spans,
    metered,
    rate_limited,
    remote_client_of,
    traced,
)
from ..core.http.receiving import Receiver
from ..core.http.rendering import PageRenderer
from ..core.http.routing import Route, Routes
from ..core.http.services import Services
from ..core.http.worker_status import WorkerStatus
from ..core.jobs.fair_pool import hashing_pool, publishing_pool
from ..core.jobs.periodic import PeriodicJobs
from ..core.logs import report_clock_jump
from ..core.settings import Settings
from ..pages.context import PublicContext
from ..pages.embeds import EmbedPages
from ..pages.icons import Icons
from ..pages.pages import PublicPages, build_public_pages
from ..pages.store_reads import StoreAccess
from .readings import DamageWatch, list_readings
from .site import Site

C = TypeVar("C", bound=Closeable)

_log = structlog.get_logger("widget_catalog.start")

# In each of two pools: writers wait for each other, readers for nobody.
_THREADS = 8
_DATABASE_TIMEOUT_S = 5.0
# How often to look for changes that were committed but not applied, for example by a killed
# process.
_APPLY_EVERY_S = 2
# How often to check how much of the replica is mapped.
_RELEASE_EVERY_S = 10


def list_routes() -> Routes[Route]:
    """Every route that depends on the user: the internal API, and the pages."""
    return Routes([route for feature in installed() for route in feature.routes()])


def build_worker(
    settings: Settings,
    now: Clock = clock.now,
    status: WorkerStatus | None = None,
    finish_start: Callable[[Node], None] | None = None,
) -> Worker:
    """Builds a worker. `now` is the clock for people's actions; `status` is that of the other
    workers, if any; `finish_start` does what the start could not do because another process was
    writing, and may wait for it.
    """
    with contextlib.ExitStack() as opened:
        parts = _Parts(opened, settings, now, status)
        site = parts.build_site()
        handler: Handler = site.handle
        trust = settings.trust_forwarded_for
        if settings.rate_limit:
            handler = rate_limited(handler, settings.rate_limit, trust_forwarded_for=trust)
        if parts.metrics is not None or has_spans():
            # Public requests, too, are measured then.
            handler = traced(handler, identifies_all=False)
        if parts.metrics is not None:
            parts.close_later(parts.start_metrics(parts.metrics))
            handler = metered(handler, parts.metrics)
        if settings.access_log:
            handler = access_logged(handler, trust_forwarded_for=trust)
        node = parts.node
        if finish_start is not None:
            threading.Thread(target=finish_start, args=(node,), name="start", daemon=True).start()
        if node.status is not None:
            _wait_for_database(node.status)
        # Middleware wraps coroutines, and has to see every request.
        respond_now = site.respond_now if handler == site.handle else never_now
        return Worker(handler, opened.pop_all().close, site.drain, respond_now)


class _Parts:
    """The parts of a worker, closed in the reverse order of their opening."""

    def __init__(
        self,
        opened: contextlib.ExitStack,
        settings: Settings,
        now: Clock,
        status: WorkerStatus | None,
    ) -> None:
        self._opened = opened
        self._settings = settings
        self._limits = settings.of(CatalogSettings)
        self._status = status
        self._readings: list[Reading] = []
        # Counts must survive a killed process, but not a power failure: commits do not fsync.
        self.node = open_node(
            settings.data,
            is_durable=False,
            is_watched=True,
            wait_policy=DEDICATED,
            backends=settings.backends,
        )
        opened.callback(self.node.store.close)
        self.close_later(self._follow())
        folder, bundles = self.node.folder, self.node.bundles
        self._alarm = DamageAlarm(folder.damage)
        self._catalog = self.close_later(self._open_catalog(now))
        self._counter = self.close_later(DownloadCounter(self.node.store))
        self._store_watch = None
        if settings.backends.bundles is not None:
            self._store_watch = self.close_later(StoreWatch(bundles))
        self._services = self._build_services(now)
        self.metrics = open_metrics(folder.metrics) if settings.metrics_port else None
        context = WorkerContext(self._services, folder, self._readings)
        for feature in installed():
            for part in feature.start(context):
                self.close_later(part)
        self._shown = CurrentSettings(self._services)
        jobs = [job for feature in installed() for job in feature.jobs(self._services)]
        self.close_later(PeriodicJobs(*jobs, self._shown.read))
        release = partial(release_memory, folder.replica)
        self.close_later(PeriodicJobs(release, interval_s=_RELEASE_EVERY_S))
        self._damage = DamageWatch(settings, self.node.replica)
        files = files_of(folder, bundles, settings.backends)
        encode = None
        if self._limits.compress_bundles:
            store, applied_seq = self._services.store, self.node.replica.applied_seq
            encode = self.close_later(BundleEncoder(store, bundles, folder, applied_seq)).ask
        self._cdn = self.close_later(Cdn(self._catalog, *files, self._damage.note_file, encode))
        enter = opened.enter_context
        writers = enter(ThreadPoolExecutor(_THREADS, thread_name_prefix="writers"))
        self._readers = enter(ThreadPoolExecutor(_THREADS, thread_name_prefix="readers"))
        self._receiver = self.close_later(Receiver())
        (authenticate,) = [it.authentication for it in installed() if it.authentication is not None]
        self._dispatcher = Dispatcher(
            self._services,
            authenticate(self._services),
            list_routes(),
            self._readers,
            writers,
            self.close_later(hashing_pool()),
            self.close_later(publishing_pool()),
            self._receiver,
        )

    def close_later(self, part: C) -> C:
        self._opened.callback(part.close)
        return part

    def build_site(self) -> Site:
        services, health = self._services, self._build_health()
        pages, cdn_url = self._build_pages(), self._settings.cdn_url
        origins = " ".join(self._limits.embed_origins.split())
        embeds = EmbedPages(self._catalog, services.renderer, cdn_url, origins)
        paths = [feature.paths(services, self._receiver) for feature in installed()]
        paths.append(pages.pictures.handlers(self._cdn.handle))
        return Site(
            self._build_api(health),
            self._cdn,
            SandboxFrame(" ".join(self._limits.frame_origins.split()), origins),
            {prefix: handler for some in paths for prefix, handler in some.items()},
            self._dispatcher,
            embeds,
            pages,
            self._build_healthz(health),
            self._alarm,
            self.node.replica.healing.condemn,
        )

    def start_metrics(self, metrics: Metrics) -> WorkerMetrics:
        """Those of this worker besides requests."""
        readings = list_readings(
            (self.node.store, self._services.store),
            self._catalog,
            self._counter,
            self._cdn,
            self._receiver,
            self._store_watch,
            self._damage,
            self._streams,
        )
        return WorkerMetrics(metrics.registry, [*readings, *self._readings])

    def _follow(self) -> Closeable:
        """Keeps the replica up to date with other processes and nodes."""
        settings, node = self._settings, self.node
        if node.status is None:
            return PeriodicJobs(partial(node.replica.apply, node.store), interval_s=_APPLY_EVERY_S)
        from ..catalog.replica.following import Follower
        from ..core.db.listening import Listening

        # A separate node, independent of what the handlers have seen.
        own = open_node(settings.data, backends=settings.backends)
        return Follower(
            node.folder.follower_lock,
            node.status,
            own.store,
            own.replica,
            own.counts,
            partial(Listening, settings.database, settings.secrets),
        )

    def _open_catalog(self, now: Clock) -> CatalogReader:
        try:
            if self._status is not None and self._status.memory_errors:
                _ensure_intact(self.node)  # Reading a damaged file would crash this process.
            return open_catalog(self.node, self._settings, now)
        except DataDamaged as error:
            self._alarm.report(error)
            raise

    def _build_services(self, now: Clock) -> Services:
        """With a store of its own: people's changes are on disk before they are acknowledged."""
        settings, node = self._settings, self.node
        store = open_node(
            settings.data,
            now=JumpWatch(report_clock_jump, now),
            is_watched=True,
            wait_policy=SERVICE,
            backends=settings.backends,
            max_connections=settings.database_connections,
        ).store
        self._opened.callback(store.close)
        watched = node.bundles if self._store_watch is None else self._store_watch
        services = Services(
            store=store,
            bundles=node.bundles,
            check_bundles=watched.check,
            uploads=node.uploads,
            settings=settings,
            keys=open_keys(node.folder, store, settings),
            renderer=PageRenderer(
                settings.service_name,
                settings.public_url,
                list_contributions(),
                has_dashboard=self._limits.dashboard,
            ),
            applied_seq=node.replica.applied_seq,
            notifications=None if (status := node.status) is None else lambda: status.notifications,
        )
        for feature in installed():
            for service in feature.services(services):
                services.provide(service)
        return services

    def _build_health(self) -> Health:
        store, status = self._services.store, self.node.status
        return Health(
            self._catalog,
            store.check if status is None else status.check_database,
            self._services.check_bundles,
            store.blocked_s,
            self._alarm.current,
            lambda: self.node.replica.error,
            lambda: self.node.replica.healing.is_condemned,
            self._status,
        )

    def _build_healthz(self, health: Health) -> Healthz:
        status = self.node.status
        return Healthz(
            self._catalog,
            (lambda: self.node.replica.error) if status is None else status.find_delay,
            self._limits.max_lag_s,
            lambda: 0.0 if status is None else status.silent_s,
            lambda: status is not None and status.is_read_only,
            lambda: status is not None and status.is_newer,
            health.find_blocked_s,
            lambda: self._status is not None and self._status.is_stopping,
            lambda: self.node.replica.healing.is_condemned,
            lambda: status is not None and status.is_catching_up(),
            has_others=status is not None,
        )

    def _build_api(self, health: Health) -> PublicApi:
        limits, trust = self._limits, self._settings.trust_forwarded_for
        self._streams = EventStreams(self._catalog, limits.max_event_streams)
        return PublicApi(
            self._catalog,
            self._counter,
            health,
            self._shown,
            traced(self._dispatcher.handle),
            limits.min_cli_version,
            self._streams,
            partial(remote_client_of, trust_forwarded_for=trust),
            partial(newest_change, self._services.store),
        )

    def _build_pages(self) -> PublicPages:
        context = PublicContext(
            self._catalog,
            self._services.renderer,
            self._settings.cdn_url,
            self.node.bundles,
            StoreAccess(self._services.store, self._readers),
            Icons(self.node.folder.icons),
            Languages(self._limits.languages),
        )
        return build_public_pages(context)


def _wait_for_database(status: NodeStatus) -> None:
    """Wait until the follower has reached it: a worker that accepts connections earlier would
    reject writes that another node accepts. Limited, because the database may be down.
    """
    until = time.monotonic() + _DATABASE_TIMEOUT_S
    while not status.is_database_up() and time.monotonic() < until:
        time.sleep(0.02)


def _ensure_intact(node: Node) -> None:
    def read() -> None:
        with contextlib.closing(ReplicaReader(node.folder.replica)) as reader:
            reader.check_records()

    if is_intact(node.folder.replica, read):
        return
    _log.error("The read model is damaged, and is rebuilt.")
    try:
        node.replica.rebuild(node.store)
    except StoreUnavailable as error:
        _log.error("The read model cannot be rebuilt.", error=error.message)
