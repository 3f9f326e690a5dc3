"""Builds the objects of a worker process.

It is imported before workers are forked, so that they share the memory of its modules.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import structlog

from ..catalog.api.api import PublicApi
from ..catalog.api.cdn import Cdn
from ..catalog.api.event_streams import EventStreams
from ..catalog.api.health import Health, Healthz
from ..catalog.catalog import Catalog
from ..catalog.count_download import DownloadCounter
from ..catalog.installs import CHART_DAYS, Installs, installs_of, read_installs
from ..catalog.node.node import Node, open_node
from ..catalog.node.opening import files_of
from ..catalog.node.wiring import open_catalog
from ..catalog.pages.icons import Icons
from ..catalog.pages.pages import PublicPages
from ..catalog.pages.preview import PreviewPages
from ..catalog.pages.rendered_pages import InstallsReader, MembersReader
from ..catalog.replica.integrity import is_intact
from ..catalog.replica.mapped_memory import release_mapped
from ..catalog.replica.node_status import NodeStatus
from ..catalog.settings import CatalogSettings
from ..catalog.store.feed import newest_change
from ..catalog.store.scopes import Member, find_public_members
from ..core import clock
from ..core.clock import Clock, JumpWatch
from ..core.current_settings import CurrentSettings
from ..core.data_folder import DataFolder
from ..core.db.connection_watch import ConnectionWatch
from ..core.db.damage import DamageAlarm
from ..core.db.writer_lock import DEDICATED, SERVICE
from ..core.errors import DataDamaged, StoreUnavailable
from ..core.features import Closeable, WorkerContext, installed
from ..core.files.cache import StoreWatch
from ..core.http.dispatcher import Authentication, Dispatcher
from ..core.http.hashing import HashingPool
from ..core.http.http import Answer, Worker, WorkerCounts
from ..core.http.metrics import open_metrics
from ..core.http.middleware import access_logged, metered, rate_limited, remote_client_of
from ..core.http.receiving import Receiver
from ..core.http.routing import Route, Routes
from ..core.http.services import Services
from ..core.http.worker_metrics import WorkerMetrics
from ..core.jobs.periodic import PeriodicJobs
from ..core.logs import report_clock_jump
from ..core.settings import Settings
from .services import build_services, read_worker
from .site import Site

if TYPE_CHECKING:
    from ..catalog.replica.following import Follower

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
    status: WorkerCounts | None = None,
    finish_start: Callable[[Node], None] | None = None,
) -> Worker:
    """Builds a worker. `now` is the clock for people's actions; `status` is that of the other
    workers, if any; `finish_start` does what the start could not do because another process was
    writing, and may wait for it.

    Parts are closed in the reverse order of their opening.
    """
    with contextlib.ExitStack() as parts:
        node, watch = _open_node(parts, settings)
        alarm = DamageAlarm(node.folder.damage)
        catalog = _open_catalog(parts, node, settings, now, status, alarm)
        counter = _closed(parts, DownloadCounter(node.store))
        store_watch = None
        if settings.backends.bundles is not None:
            store_watch = _closed(parts, StoreWatch(node.bundles))
        services = _build_services(parts, node, settings, now, watch, store_watch)
        metrics = open_metrics(node.folder.metrics) if settings.metrics_port else None
        _start_features(parts, WorkerContext(services, node.folder, metrics))
        shown = CurrentSettings(services)
        jobs = [job for feature in installed() for job in feature.jobs(services)]
        _closed(parts, PeriodicJobs(*jobs, shown.read))
        release = partial(release_mapped, node.folder.replica)
        _closed(parts, PeriodicJobs(release, interval_s=_RELEASE_EVERY_S))
        cdn = Cdn(catalog, *files_of(node.folder, node.bundles, settings.backends))
        parts.callback(cdn.close)
        readers, writers = _open_threads(parts)
        receiver = _closed(parts, Receiver(settings.max_parallel_uploads))
        dispatcher = Dispatcher(
            services,
            _authenticate(services),
            list_routes(),
            readers,
            writers,
            _closed(parts, HashingPool()),
            receiver,
        )
        health = _build_health(node, services, catalog, alarm, status)
        api = _build_api(settings, services, catalog, counter, health, shown, dispatcher)
        site = Site(
            api,
            cdn,
            _list_paths(services, receiver),
            dispatcher,
            PreviewPages(catalog, services.renderer, settings.cdn_url),
            _build_pages(settings, services, catalog, node, readers),
            _build_healthz(settings, node, catalog, health),
            alarm,
        )
        answer = _limited(site.answer, settings)
        if metrics is not None:
            stores = (node.store, services.store)
            read = partial(read_worker, stores, catalog, counter, cdn, receiver, store_watch)
            _closed(parts, WorkerMetrics(metrics.registry, read))
            answer = metered(answer, metrics)
        if settings.access_log:
            answer = access_logged(answer, trust_forwarded_for=settings.trust_forwarded_for)
        if finish_start is not None:
            threading.Thread(target=finish_start, args=(node,), name="start", daemon=True).start()
        if node.status is not None:
            _wait_for_database(node.status)
        return Worker(answer, parts.pop_all().close, site.drain)


def _closed(parts: contextlib.ExitStack, part: C) -> C:
    """A part that is closed when the worker is."""
    parts.callback(part.close)
    return part


def _open_node(
    parts: contextlib.ExitStack, settings: Settings
) -> tuple[Node, ConnectionWatch | None]:
    """Counts must survive a killed process, but not a power failure, so commits do not fsync."""
    watch = _watch_connections(settings)
    if watch is not None:
        parts.callback(watch.close)
    node = open_node(
        settings.data,
        is_durable=False,
        is_watched=True,
        wait_policy=DEDICATED,
        backends=settings.backends,
        watch=watch,
    )
    parts.callback(node.store.close)
    parts.callback(_follow(settings, node, watch).close)
    return node, watch


def _open_catalog(
    parts: contextlib.ExitStack,
    node: Node,
    settings: Settings,
    now: Clock,
    status: WorkerCounts | None,
    alarm: DamageAlarm,
) -> Catalog:
    try:
        if status is not None and status.memory_faults:
            _ensure_intact(node)  # Reading a damaged file would crash this process.
        return _closed(parts, open_catalog(node, settings, now))
    except DataDamaged as fault:
        alarm.report(fault)
        raise


def _build_services(
    parts: contextlib.ExitStack,
    node: Node,
    settings: Settings,
    now: Clock,
    watch: ConnectionWatch | None,
    store_watch: StoreWatch | None,
) -> Services:
    """With a store of its own: changes made by people are on disk before they are acknowledged."""
    durable = open_node(
        settings.data,
        now=JumpWatch(report_clock_jump, now),
        is_watched=True,
        wait_policy=SERVICE,
        backends=settings.backends,
        watch=watch,
    ).store
    parts.callback(durable.close)
    check_bundles = node.bundles.check if store_watch is None else store_watch.check
    return build_services(
        node.folder,
        durable,
        node.bundles,
        check_bundles,
        node.uploads,
        settings,
        node.replica.applied_seq,
    )


def _authenticate(services: Services) -> Authentication:
    (authenticate,) = [it.authentication for it in installed() if it.authentication is not None]
    return authenticate(services)


def _list_paths(services: Services, receiver: Receiver) -> dict[str, Answer]:
    return {
        prefix: answer
        for feature in installed()
        for prefix, answer in feature.paths(services, receiver).items()
    }


def _start_features(parts: contextlib.ExitStack, context: WorkerContext) -> None:
    for feature in installed():
        for part in feature.start(context):
            parts.callback(part.close)


def _open_threads(parts: contextlib.ExitStack) -> tuple[ThreadPoolExecutor, ThreadPoolExecutor]:
    """For readers and for writers: writers wait for each other, readers for nobody."""
    readers = ThreadPoolExecutor(_THREADS, thread_name_prefix="readers")
    writers = ThreadPoolExecutor(_THREADS, thread_name_prefix="writers")
    parts.callback(writers.shutdown)
    parts.callback(readers.shutdown)
    return readers, writers


def _build_health(
    node: Node,
    services: Services,
    catalog: Catalog,
    alarm: DamageAlarm,
    status: WorkerCounts | None,
) -> Health:
    store = services.store
    return Health(
        catalog,
        store.check if node.status is None else node.status.check_database,
        services.check_bundles,
        store.blocked_s,
        alarm.current,
        lambda: node.replica.fault,
        status,
    )


def _build_healthz(settings: Settings, node: Node, catalog: Catalog, health: Health) -> Healthz:
    limits = settings.of(CatalogSettings)
    status = node.status
    return Healthz(
        catalog,
        (lambda: node.replica.fault) if status is None else status.find_delay,
        limits.max_lag_s,
        lambda: 0.0 if status is None else status.silent_s,
        limits.max_silence_s,
        lambda: status is not None and status.is_read_only,
        lambda: status is not None and status.is_newer,
        health.find_blocked_s,
    )


def _build_api(
    settings: Settings,
    services: Services,
    catalog: Catalog,
    counter: DownloadCounter,
    health: Health,
    shown: CurrentSettings,
    dispatcher: Dispatcher,
) -> PublicApi:
    ours = settings.of(CatalogSettings)
    return PublicApi(
        catalog,
        counter,
        health,
        shown,
        dispatcher.answer,
        ours.min_cli_version,
        EventStreams(catalog, ours.max_event_streams, ours.max_event_streams_per_client),
        partial(remote_client_of, trust_forwarded_for=settings.trust_forwarded_for),
        partial(newest_change, services.store),
    )


def _build_pages(
    settings: Settings,
    services: Services,
    catalog: Catalog,
    node: Node,
    readers: ThreadPoolExecutor,
) -> PublicPages:
    async def find_installs(widget_id: int) -> Installs:
        loop = asyncio.get_running_loop()
        read = partial(read_installs, services.store, widget_id, CHART_DAYS)
        today, days = await loop.run_in_executor(readers, read)
        return installs_of(today, dict(days))

    async def find_members(scope: str) -> Sequence[Member]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(readers, find_public_members, services.store, scope)

    return PublicPages(
        catalog,
        services.renderer,
        settings.cdn_url,
        node.bundles,
        Icons(node.folder.icons),
        InstallsReader(find_installs),
        MembersReader(find_members),
    )


def _limited(answer: Answer, settings: Settings) -> Answer:
    if not settings.rate_limit:
        return answer
    trust = settings.trust_forwarded_for
    return rate_limited(answer, settings.rate_limit, trust_forwarded_for=trust)


def _wait_for_database(status: NodeStatus) -> None:
    """Wait until the follower has reached it: a worker that accepts connections earlier would
    reject writes that another node accepts. Limited, because the database may be down.
    """
    until = time.monotonic() + _DATABASE_TIMEOUT_S
    while not status.is_database_up() and time.monotonic() < until:
        time.sleep(0.02)


def _watch_connections(settings: Settings) -> ConnectionWatch | None:
    if not settings.database:
        return None
    return ConnectionWatch(NodeStatus(DataFolder(settings.data).node_status).stale_before_s)


def _follow(
    settings: Settings, node: Node, watch: ConnectionWatch | None
) -> "PeriodicJobs | Follower":
    """Keeps the replica up to date with other processes and nodes."""
    if node.status is None or watch is None:
        return PeriodicJobs(partial(node.replica.apply, node.store), interval_s=_APPLY_EVERY_S)
    from ..catalog.replica.following import Follower
    from ..core.db.postgresql import Listening

    # A separate node, independent of what the handlers have seen.
    own = open_node(settings.data, backends=settings.backends, watch=watch)
    return Follower(
        node.folder.follower_lock,
        node.status,
        own.store,
        own.replica,
        own.counts,
        partial(Listening, settings.database, settings.secrets),
        watch,
    )


def _ensure_intact(node: Node) -> None:
    if is_intact(node.folder.replica, is_thorough=True):
        return
    _log.error("The read model is damaged, and is rebuilt.")
    try:
        node.replica.rebuild(node.store)
    except StoreUnavailable as fault:
        _log.error("The read model cannot be rebuilt.", fault=fault.message)
