"""Builds the objects of a worker process.

It is imported before workers are forked, so that they share the memory of its modules.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import structlog

from ..accounts.oauth.successors import forget_successors
from ..accounts.pages.routes import ACCOUNT_PAGES
from ..accounts.tokens.issue_token import forget_tokens
from ..catalog.api.api import PublicApi
from ..catalog.api.cdn import Cdn
from ..catalog.api.event_streams import EventStreams
from ..catalog.api.health import Health
from ..catalog.api.healthz import Healthz
from ..catalog.count_download import DownloadCounter
from ..catalog.installs import CHART_DAYS, read_installs
from ..catalog.node.node import Node, open_node
from ..catalog.node.opening import files_of
from ..catalog.node.wiring import open_catalog
from ..catalog.pages.icons import Icons
from ..catalog.pages.installs import Installs, InstallsReader, installs_of
from ..catalog.pages.pages import PublicPages
from ..catalog.pages.preview import PreviewPages
from ..catalog.pages.scope_page import MembersReader
from ..catalog.replica.integrity import is_intact
from ..catalog.replica.mapped_memory import release_mapped
from ..catalog.replica.node_status import NodeStatus
from ..catalog.store.feed import newest_change
from ..core import clock
from ..core.clock import Clock, JumpWatch
from ..core.data_folder import DataFolder
from ..core.db.connection_watch import ConnectionWatch
from ..core.db.damage import DamageAlarm
from ..core.db.writer_lock import DEDICATED, SERVICE
from ..core.errors import DataDamaged, StoreUnavailable
from ..core.files.cache import StoreWatch
from ..core.http.dispatcher import Dispatcher
from ..core.http.hashing import HashingPool
from ..core.http.http import Answer, Worker, WorkerCounts
from ..core.http.metrics import open_metrics
from ..core.http.middleware import access_logged, metered, rate_limited, remote_client_of
from ..core.http.receiving import Receiver
from ..core.http.routing import Route, Routes
from ..core.http.worker_metrics import WorkerMetrics
from ..core.logs import report_clock_jump
from ..core.settings import Settings
from ..moderation.report_page import REPORT_PAGES
from ..moderation.report_widget import forget_reports
from ..operations.pages.routes import OPERATOR_PAGES
from ..operations.prune_audit import prune_audit
from ..organizations.organize import list_public_members
from ..organizations.store import Member
from ..publishing.pages.routes import AUTHOR_PAGES
from ..publishing.tidy_uploads import PeriodicJobs, tidy_uploads
from ..publishing.uploads import Uploads
from ..transfer.staged_import import watch_imports
from ..webhooks.delivering import Deliverer
from .routes import ROUTES
from .services import build_services, current_settings, read_worker
from .site import Site

if TYPE_CHECKING:
    from ..catalog.replica.following import Follower

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
    return Routes((*ROUTES.all, *ACCOUNT_PAGES, *AUTHOR_PAGES, *OPERATOR_PAGES, *REPORT_PAGES))


def build_worker(
    settings: Settings,
    now: Clock = clock.now,
    status: WorkerCounts | None = None,
    finish_start: Callable[[Node], None] | None = None,
) -> Worker:
    """Builds a worker. `now` is the clock for people's actions; `status` is that of the other
    workers, if any; `finish_start` does what the start could not do because another process was
    writing, and may wait for it.
    """
    # Counts must survive a killed process, but not a power failure, so commits do not fsync.
    backends = settings.backends
    watch = _watch_connections(settings)
    node = open_node(
        settings.data,
        is_durable=False,
        is_watched=True,
        wait_policy=DEDICATED,
        backends=backends,
        watch=watch,
    )
    following = _follow(settings, node, watch)
    store_watch = None if backends.bundles is None else StoreWatch(node.bundles)
    check_bundles = node.bundles.check if store_watch is None else store_watch.check
    alarm = DamageAlarm(node.folder.damage)
    try:
        if status is not None and status.memory_faults:
            _ensure_intact(node)  # Reading a damaged file would crash this process.
        catalog = open_catalog(node, settings, now)
    except DataDamaged as fault:
        alarm.report(fault)
        raise
    counter = DownloadCounter(node.store)
    jump_watch = JumpWatch(report_clock_jump, now)
    # Changes made by people are on disk before they are acknowledged.
    durable = open_node(
        settings.data,
        now=jump_watch,
        is_watched=True,
        wait_policy=SERVICE,
        backends=backends,
        watch=watch,
    ).store
    services = build_services(
        node.folder,
        durable,
        node.bundles,
        check_bundles,
        node.uploads,
        settings,
        node.replica.applied_seq,
    )
    shown = current_settings(settings, services)
    tidy = partial(tidy_uploads, durable, node.bundles, node.uploads)
    forget = [
        partial(forget_successors, durable),
        partial(forget_reports, durable),
        partial(forget_tokens, durable),
        partial(prune_audit, durable, settings.audit_keep_days),
    ]
    tidier = PeriodicJobs(tidy, *forget, shown.read)
    importing = watch_imports(durable)
    releasing = PeriodicJobs(
        partial(release_mapped, node.folder.replica), interval_s=_RELEASE_EVERY_S
    )
    metrics = open_metrics(node.folder.metrics) if settings.metrics_port else None
    lock_file, open_secret = node.folder.webhook_lock, services.factor_policy.box.open
    webhooks = Deliverer(durable, lock_file, open_secret, services.webhook_rules, metrics)
    readers = ThreadPoolExecutor(_THREADS, thread_name_prefix="readers")
    writers = ThreadPoolExecutor(_THREADS, thread_name_prefix="writers")
    hashing = HashingPool()
    receiver = Receiver(settings.max_parallel_uploads)
    dispatcher = Dispatcher(services, list_routes(), readers, writers, hashing, receiver)
    health = Health(
        catalog,
        durable.check if node.status is None else node.status.check_database,
        check_bundles,
        durable.blocked_s,
        alarm.current,
        lambda: node.replica.fault,
        status,
    )
    api = PublicApi(
        catalog,
        counter,
        health,
        shown,
        dispatcher.answer,
        settings.min_cli_version,
        EventStreams(catalog, settings.max_event_streams, settings.max_event_streams_per_client),
        partial(remote_client_of, trust_forwarded_for=settings.trust_forwarded_for),
        partial(newest_change, durable),
    )

    async def find_installs(widget_id: int) -> Installs:
        loop = asyncio.get_running_loop()
        read = partial(read_installs, durable, widget_id, CHART_DAYS)
        today, days = await loop.run_in_executor(readers, read)
        return installs_of(today, dict(days))

    async def find_members(scope: str) -> list[Member]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(readers, list_public_members, durable, scope)

    pages = PublicPages(
        catalog,
        services.renderer,
        settings.cdn_url,
        node.bundles,
        Icons(node.folder.icons),
        InstallsReader(find_installs),
        MembersReader(find_members),
    )
    previews = PreviewPages(catalog, services.renderer, settings.cdn_url)
    cdn = Cdn(catalog, *files_of(node.folder, node.bundles, backends))
    find_delay = (lambda: node.replica.fault) if node.status is None else node.status.find_delay
    healthz = Healthz(
        catalog,
        find_delay,
        settings.max_lag_s,
        lambda: 0.0 if node.status is None else node.status.silent_s,
        settings.max_silence_s,
        lambda: node.status is not None and node.status.is_read_only,
        lambda: node.status is not None and node.status.is_newer,
        health.find_blocked_s,
    )
    site = Site(api, cdn, Uploads(services, receiver), dispatcher, previews, pages, healthz, alarm)
    answer: Answer = site.answer
    sampling: WorkerMetrics | None = None
    trust = settings.trust_forwarded_for
    if settings.rate_limit:
        answer = rate_limited(answer, settings.rate_limit, trust_forwarded_for=trust)
    if metrics is not None:
        stores = (node.store, durable)
        read = partial(read_worker, stores, catalog, counter, cdn, receiver, store_watch)
        sampling = WorkerMetrics(metrics.registry, read)
        answer = metered(answer, metrics)
    if settings.access_log:
        answer = access_logged(answer, trust_forwarded_for=trust)
    if finish_start is not None:
        threading.Thread(target=finish_start, args=(node,), name="start", daemon=True).start()

    def close() -> None:
        if sampling is not None:
            sampling.close()
        readers.shutdown()
        writers.shutdown()
        receiver.close()
        hashing.close()
        tidier.close()
        importing.close()
        releasing.close()
        webhooks.close()
        following.close()
        cdn.close()
        if store_watch is not None:
            store_watch.close()
        durable.close()
        counter.close()
        catalog.close()
        node.store.close()
        if watch is not None:
            watch.close()

    if node.status is not None:
        _wait_for_database(node.status)
    return Worker(answer, close, site.drain)


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
