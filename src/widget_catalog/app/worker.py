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
from ..catalog.api.health import Health, Healthz, LoneNode
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
from ..core.db.engine import Store
from ..core.db.file_lock import DEDICATED, SERVICE
from ..core.errors import DataDamaged, StoreUnavailable
from ..core.features import Closeable, WorkerContext, installed, list_contributions
from ..core.files.cache import StoreWatch
from ..core.files.contract import Bundles
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
from ..core.jobs.periodic import JOBS_EVERY_S, PeriodicJobs
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
        builder = WorkerBuilder(opened, settings, now, status)
        node = builder.open_node()
        site, handler = builder.build(node)
        if finish_start is not None:
            threading.Thread(target=finish_start, args=(node,), name="start", daemon=True).start()
        if node.status is not None:
            _wait_for_database(node.status)
        # Middleware wraps coroutines, and has to see every request.
        respond_now = site.respond_now if handler == site.handle else never_now
        return Worker(handler, opened.pop_all().close, site.drain, respond_now)


class WorkerBuilder:
    """Builds the parts of a worker, which are closed in the reverse order of their opening."""

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
        self._now = now
        self._status = status

    def open_node(self) -> Node:
        """The folder, with a replica that follows other processes and nodes."""
        # Counts must survive a killed process, but not a power failure: commits do not fsync.
        node = open_node(
            self._settings.data,
            is_durable=False,
            is_watched=True,
            wait_policy=DEDICATED,
            backends=self._settings.backends,
        )
        self._opened.callback(node.store.close)
        self._close_later(self._follow(node))
        return node

    def build(self, node: Node) -> tuple[Site, Handler]:
        """What responds to all requests; and that within the middleware that is enabled."""
        settings, limits, folder = self._settings, self._limits, node.folder
        alarm = DamageAlarm(folder.damage)
        catalog = self._close_later(self._open_catalog(node, alarm))
        counter = self._close_later(DownloadCounter(node.store))
        store_watch = None
        if settings.backends.bundles is not None:
            store_watch = self._close_later(StoreWatch(node.bundles))
        services = self._build_services(node, store_watch or node.bundles)

        metrics = open_metrics(folder.metrics) if settings.metrics_port else None
        of_features: list[Reading] = []
        context = WorkerContext(services, folder, of_features)
        for feature in installed():
            for part in feature.start(context):
                self._close_later(part)
        shown = CurrentSettings(services)
        jobs = [job for feature in installed() for job in feature.jobs(services)]
        self._run("jobs", *jobs, shown.read)
        self._run("memory", partial(release_memory, folder.replica), every_s=_RELEASE_EVERY_S)

        damage = DamageWatch(settings, node.replica)
        cdn = self._build_cdn(node, catalog, services.store, damage)
        writers, readers = self._open_pool("writers"), self._open_pool("readers")
        receiver = self._close_later(Receiver())
        dispatcher = self._build_dispatcher(services, readers, writers, receiver)
        lone_or_shared = node.status or LoneNode(services.store, node.replica)
        health = Health(
            catalog,
            lone_or_shared,
            services.store,
            node.replica,
            alarm,
            services.check_bundles,
            self._status,
        )
        streams = EventStreams(catalog, limits.max_event_streams)
        api = PublicApi(
            catalog,
            counter,
            health,
            shown,
            traced(dispatcher.handle),
            limits.min_cli_version,
            streams,
            partial(remote_client_of, trust_forwarded_for=settings.trust_forwarded_for),
            partial(newest_change, services.store),
        )
        pages = self._build_pages(node, catalog, services, readers)
        paths = [feature.paths(services, receiver) for feature in installed()]
        paths.append(pages.pictures.handlers(cdn.handle))
        embed_origins = " ".join(limits.embed_origins.split())
        site = Site(
            api,
            cdn,
            SandboxFrame(" ".join(limits.frame_origins.split()), embed_origins),
            {prefix: handler for some in paths for prefix, handler in some.items()},
            dispatcher,
            EmbedPages(catalog, services.renderer, settings.cdn_url, embed_origins),
            pages,
            Healthz(health, limits.max_lag_s),
            alarm,
            node.replica.healing.condemn,
        )
        if metrics is not None:
            stores = (node.store, services.store)
            own = list_readings(
                stores, catalog, counter, cdn, receiver, store_watch, damage, streams
            )
            self._close_later(WorkerMetrics(metrics.registry, [*own, *of_features]))
        return site, self._within_middleware(site, metrics)

    def _close_later(self, part: C) -> C:
        self._opened.callback(part.close)
        return part

    def _run(self, name: str, *jobs: Callable[[], None], every_s: float = JOBS_EVERY_S) -> None:
        self._close_later(PeriodicJobs(name, *jobs, interval_s=every_s))

    def _open_pool(self, name: str) -> ThreadPoolExecutor:
        return self._opened.enter_context(ThreadPoolExecutor(_THREADS, thread_name_prefix=name))

    def _within_middleware(self, site: Site, metrics: Metrics | None) -> Handler:
        settings, trust = self._settings, self._settings.trust_forwarded_for
        handler: Handler = site.handle
        if settings.rate_limit:
            handler = rate_limited(handler, settings.rate_limit, trust_forwarded_for=trust)
        if metrics is not None or has_spans():
            # Public requests, too, are measured then.
            handler = traced(handler, identifies_all=False)
        if metrics is not None:
            handler = metered(handler, metrics)
        if settings.access_log:
            handler = access_logged(handler, trust_forwarded_for=trust)
        return handler

    def _follow(self, node: Node) -> Closeable:
        """Keeps the replica up to date with other processes and nodes."""
        settings = self._settings
        if node.status is None:
            apply = partial(node.replica.apply, node.store)
            return PeriodicJobs("replica", apply, interval_s=_APPLY_EVERY_S)
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

    def _open_catalog(self, node: Node, alarm: DamageAlarm) -> CatalogReader:
        try:
            if self._status is not None and self._status.memory_errors:
                _ensure_intact(node)  # Reading a damaged file would crash this process.
            return open_catalog(node, self._settings, self._now)
        except DataDamaged as error:
            alarm.report(error)
            raise

    def _build_services(self, node: Node, watched: Bundles | StoreWatch) -> Services:
        """With a store of its own: people's changes are on disk before they are acknowledged."""
        settings = self._settings
        store = open_node(
            settings.data,
            now=JumpWatch(report_clock_jump, self._now),
            is_watched=True,
            wait_policy=SERVICE,
            backends=settings.backends,
            max_connections=settings.database_connections,
        ).store
        self._opened.callback(store.close)
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
                frame_url=self._limits.frame_url,
            ),
            applied_seq=node.replica.applied_seq,
            notifications=None if (status := node.status) is None else lambda: status.notifications,
        )
        for feature in installed():
            for service in feature.services(services):
                services.provide(service)
        return services

    def _build_cdn(
        self, node: Node, catalog: CatalogReader, store: Store, damage: DamageWatch
    ) -> Cdn:
        files = files_of(node.folder, node.bundles, self._settings.backends)
        encode = None
        if self._limits.compress_bundles:
            encoder = BundleEncoder(store, node.bundles, node.folder, node.replica.applied_seq)
            encode = self._close_later(encoder).ask
        return self._close_later(Cdn(catalog, *files, damage.note_file, encode))

    def _build_dispatcher(
        self,
        services: Services,
        readers: ThreadPoolExecutor,
        writers: ThreadPoolExecutor,
        receiver: Receiver,
    ) -> Dispatcher:
        (authenticate,) = [it.authentication for it in installed() if it.authentication is not None]
        return Dispatcher(
            services,
            authenticate(services),
            list_routes(),
            readers,
            writers,
            self._close_later(hashing_pool()),
            self._close_later(publishing_pool()),
            receiver,
        )

    def _build_pages(
        self, node: Node, catalog: CatalogReader, services: Services, readers: ThreadPoolExecutor
    ) -> PublicPages:
        context = PublicContext(
            catalog,
            services.renderer,
            self._settings.cdn_url,
            node.bundles,
            StoreAccess(services.store, readers),
            Icons(node.folder.icons),
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
