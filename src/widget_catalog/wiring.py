"""The only place that builds things.

What only a worker needs is imported where one is built: commands would wait for it a second.
"""

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import structlog

from .bundles.cache import StoreWatch
from .bundles.contract import Bundles, Uploads
from .data_folder import DataFolder as DataFolder
from .domain import clock
from .domain.clock import Clock, JumpWatch
from .domain.errors import DatabaseDown, DataDamaged, FolderUnusable, StoreUnavailable
from .logs import report_clock_jump
from .opening import (
    bundles_in,
    check_bundles,
    check_writable,
    files_of,
    make_folder,
    require_no_loss,
    require_no_traces_of,
    unusable,
    uploads_in,
)
from .replica.file import discard
from .replica.filling import Bar, no_bar
from .replica.node_status import NodeStatus
from .replica.replica import Replica
from .replica.revision import Counts, Revision
from .replica.soundness import is_sound
from .settings import Backends, Settings
from .store.damage import DamageAlarm
from .store.engine import Store, sqlite_engine
from .store.migrate import is_new, migrate
from .store.postgresql import postgresql_engine, transaction_horizon
from .store.writer_lock import COMMAND, DEDICATED, SERVICE, Patience

if TYPE_CHECKING:
    from .actions.tidy_uploads import Tidier
    from .catalog.catalog import Catalog
    from .replica.following import Follower
    from .web.kit.http import Answer, Worker, WorkerCounts

_log = structlog.get_logger("widget_catalog.start")

# In each of two pools: those who write wait for each other, those who only read for nobody.
_THREADS = 8
# How often a worker looks whether a change was left unapplied, as by a process that was killed.
_APPLY_EVERY_S = 2
_FOLDER = Backends()


class Node(NamedTuple):
    """A data folder, opened: the store, its read model's shared parts, and the bundles."""

    folder: DataFolder
    store: Store
    replica: Replica
    revision: Revision
    counts: Counts
    bundles: Bundles
    uploads: Uploads
    status: NodeStatus | None = None
    """Of a node that shares its database with others."""
    is_prepared: bool = True
    """Whether the counts are as stored; not so if another process was writing."""
    is_replica_sound: bool = True
    """Whether the replica was, before it was rebuilt."""


def open_node(
    path: Path,
    *,
    is_durable: bool = True,
    now: Clock = clock.now,
    is_watched: bool = False,
    patience: Patience = COMMAND,
    may_create: bool = False,
    backends: Backends = _FOLDER,
    applies: bool = True,
) -> Node:
    """Open a data folder whose database is already prepared, or `may_create` an empty one.

    `is_watched`: by a service, which alerts its operator to damage; a command prints it.
    One that `applies` not has no read model, as commands that leave this to the nodes.
    """
    folder = DataFolder(path)
    revision, counts = Revision(folder.revision), Counts(folder.counts)
    on_damage = DamageAlarm(folder.damage).report if is_watched else None
    is_shared = bool(backends.database)
    replica = Replica(
        folder,
        revision,
        counts,
        program=_program(),
        on_damage=on_damage,
        is_shared=is_shared,
        applies=applies,
    )
    status = NodeStatus(folder.node_status) if is_shared else None
    if is_shared:
        engine = postgresql_engine(backends.database, _program())
    else:
        engine = sqlite_engine(folder.database, is_durable=is_durable, may_create=may_create)
    store = Store(
        engine,
        None if is_shared else folder.writer_lock,
        replica,
        now,
        on_damage=on_damage,
        patience=patience,
        program=_program(),
        run_folder=folder.writer_lock.parent,
        is_up=status.is_database_up if status is not None and is_watched else lambda: True,
    )
    bundles, uploads = bundles_in(folder, backends), uploads_in(folder, backends)
    return Node(folder, store, replica, revision, counts, bundles, uploads, status)


def make_index_ready(node: Node) -> None:
    """After many changes: the next start, or a service that is running, need not wait for it."""
    if not node.replica.applies:
        return
    from .replica.search.file import keep_index

    keep_index(node.folder.replica, node.folder.search_index)


def prepare_node(
    path: Path,
    *,
    states_counts: bool = True,
    checks_replica: bool = False,
    bar: Bar = no_bar,
    may_begin_anew: bool = False,
    on_wait: Callable[[str], None] | None = None,
    backends: Backends = _FOLDER,
    applies: bool = True,
) -> Node:
    """Make the folder if need be, bring database and replica to this release, and open it.

    Raises CatalogMissing if there must have been a database, unless it `may_begin_anew`. Waits
    for another writer only if this changes the database; `on_wait` is then called with the holder.
    A replica that `checks_replica` finds damaged is rebuilt, as one that is missing is.
    """
    folder = DataFolder(path)
    may_begin_anew = may_begin_anew or bool(backends.database)
    if not may_begin_anew:
        require_no_loss(folder)
    make_folder(folder)
    try:
        # Not so in a restored backup: there, nothing can be wrong with them.
        had_counts = folder.counts.exists()
        is_replica_sound = not checks_replica or is_sound(folder.replica)
        if not is_replica_sound:
            discard(folder.replica)
        node = open_node(
            path,
            patience=COMMAND._replace(on_wait=on_wait),
            may_create=True,
            backends=backends,
            applies=applies,
        )
    except OSError as error:
        raise unusable(path, error) from None
    check_writable(path)
    if applies:
        check_bundles(backends)
    try:
        if not may_begin_anew and is_new(node.store):
            require_no_traces_of(folder)
        migrate(node.store)
        if not applies:
            return node
        node.replica.remove_leftovers()
        node.replica.apply(node.store, bar=bar)
        if node.status is not None:
            # Before the counts are read: what is counted meanwhile must not be missed.
            node.status.counted = transaction_horizon(node.store)
            node.status.database_answered(node.replica.applied_seq())
            node.status.applied(node.replica.applied_seq())
        if states_counts or not had_counts:
            node = node._replace(is_prepared=node.replica.state_counts(node.store))
    except DatabaseDown:
        raise
    except StoreUnavailable as error:
        raise FolderUnusable(f"The data folder {path} cannot be used: {error.message}") from None
    return node._replace(is_replica_sound=is_replica_sound)


def _program() -> str:
    """What other processes call this one: the program and its command, without what is secret."""
    name = Path(sys.argv[0]).name
    command = next((word for word in sys.argv[1:] if word.isalpha()), "")
    return f"{'widget-catalog' if name == '__main__.py' else name} {command}".strip()[:80]


def open_catalog(node: Node, settings: Settings, now: Clock = clock.now) -> "Catalog":
    """A reader of this node's catalog, with an index and caches of its own."""
    from .catalog.catalog import Catalog
    from .replica.documents import Documents
    from .replica.search.follower import IndexSource

    documents = Documents(node.folder.replica)
    cache_bytes = settings.cache_mb << 20
    return Catalog(
        documents,
        node.revision,
        node.counts,
        settings.cdn_url,
        cache_bytes,
        now,
        index_source=IndexSource(node.folder.replica, node.folder.search_index),
    )


def build_worker(
    settings: Settings,
    now: Clock = clock.now,
    status: "WorkerCounts | None" = None,
    finish_start: Callable[[Node], None] | None = None,
) -> "Worker":
    """Everything one worker process needs. `now` is the clock for what people do; `status` says
    how the other workers are, where there are any; `finish_start` does what the start could not
    do because another process was writing, and may wait for it."""
    from .actions.count_download import DownloadCounter
    from .actions.installs import read_installs
    from .actions.oauth import forget_successors
    from .actions.staged_import import watch_imports
    from .actions.tidy_uploads import Tidier, tidy_uploads
    from .actions.webhooks.delivering import Deliverer
    from .services import build_services, public_settings, read_worker
    from .web.internal.routes import ROUTES
    from .web.kit.dispatcher import Dispatcher
    from .web.kit.hashing import HashingPool
    from .web.kit.http import Worker
    from .web.kit.metrics import open_metrics
    from .web.kit.middleware import access_logged, metered, rate_limited
    from .web.kit.receiving import Receiver
    from .web.kit.routing import Routes
    from .web.kit.worker_metrics import WorkerMetrics
    from .web.pages.account.routes import ACCOUNT_PAGES
    from .web.pages.author.routes import AUTHOR_PAGES
    from .web.pages.operator.routes import OPERATOR_PAGES
    from .web.pages.preview.pages import PreviewPages
    from .web.pages.public.icons import Icons
    from .web.pages.public.installs import DAYS, Days, InstallsReader
    from .web.pages.public.pages import PublicPages
    from .web.pages.public.report_page import REPORT_PAGES
    from .web.public.api import PublicApi
    from .web.public.cdn import Cdn
    from .web.public.healthz import Healthz
    from .web.site import Site
    from .web.uploads import Uploads

    # Counts need to survive a killed process, not a power cut: no fsync a commit.
    backends = settings.backends
    node = open_node(
        settings.data, is_durable=False, is_watched=True, patience=DEDICATED, backends=backends
    )
    following = _follow(settings, node)
    store_watch = None if backends.bundles is None else StoreWatch(node.bundles)
    alarm = DamageAlarm(node.folder.damage)
    try:
        if status is not None and status.memory_faults:
            _make_sound(node)  # A damaged file ends those who read it.
        catalog = open_catalog(node, settings, now)
    except DataDamaged as fault:
        alarm.report(fault)
        raise
    counter = DownloadCounter(node.store)
    # What people do is on disk before it is acknowledged.
    watch = JumpWatch(report_clock_jump, now)
    durable = open_node(
        settings.data, now=watch, is_watched=True, patience=SERVICE, backends=backends
    ).store
    services = build_services(
        node.folder, durable, node.bundles, node.uploads, settings, node.replica.applied_seq
    )
    tidy = partial(tidy_uploads, durable, node.bundles, node.uploads)
    tidier = Tidier(tidy, partial(forget_successors, durable))
    importing = watch_imports(durable)
    metrics = open_metrics(node.folder.metrics) if settings.metrics_port else None
    lock_file, open_secret = node.folder.webhook_lock, services.factor_policy.box.open
    webhooks = Deliverer(durable, lock_file, open_secret, services.webhook_rules, metrics)
    readers = ThreadPoolExecutor(_THREADS, thread_name_prefix="readers")
    writers = ThreadPoolExecutor(_THREADS, thread_name_prefix="writers")
    hashing = HashingPool()
    routes = Routes((*ROUTES.all, *ACCOUNT_PAGES, *AUTHOR_PAGES, *OPERATOR_PAGES, *REPORT_PAGES))
    receiver = Receiver(settings.max_parallel_uploads)
    dispatcher = Dispatcher(services, routes, readers, writers, hashing, receiver)
    api = PublicApi(
        catalog,
        counter,
        durable.check if node.status is None else node.status.check_database,
        node.bundles.check if store_watch is None else store_watch.check,
        durable.blocked_s,
        public_settings(settings),
        dispatcher.answer,
        alarm.current,
        lambda: node.replica.fault,
        settings.min_cli_version,
        settings.max_event_streams,
        status,
    )

    async def read_days(widget_id: int) -> "Days":
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(readers, read_installs, durable, widget_id, DAYS)

    pages = PublicPages(
        catalog,
        services.renderer,
        settings.cdn_url,
        node.bundles,
        Icons(node.folder.icons),
        InstallsReader(read_days).find,
    )
    previews = PreviewPages(catalog, services.renderer, settings.cdn_url)
    cdn = Cdn(catalog, *files_of(node.folder, node.bundles, backends))
    find_delay = (lambda: node.replica.fault) if node.status is None else node.status.find_delay
    healthz = Healthz(catalog, find_delay, settings.max_lag_s)
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
        webhooks.close()
        following.close()
        cdn.close()
        if store_watch is not None:
            store_watch.close()
        durable.close()
        counter.close()
        catalog.close()
        node.store.close()

    return Worker(answer, close, site.drain)


def _follow(settings: Settings, node: Node) -> "Tidier | Follower":
    """Keeps the replica beside what other processes, or other nodes, write."""
    if node.status is None:
        from .actions.tidy_uploads import Tidier

        return Tidier(partial(node.replica.apply, node.store), interval_s=_APPLY_EVERY_S)
    from .replica.following import Follower
    from .store.postgresql import Listening

    # Its own, which does not depend on what it tells the others.
    own = open_node(settings.data, backends=settings.backends)
    return Follower(
        node.folder.follower_lock,
        node.status,
        own.store,
        own.replica,
        own.counts,
        partial(Listening, settings.database),
    )


def _make_sound(node: Node) -> None:
    if is_sound(node.folder.replica, is_thorough=True):
        return
    _log.error("The read model is damaged, and is rebuilt.")
    try:
        node.replica.rebuild(node.store)
    except StoreUnavailable as fault:
        _log.error("The read model cannot be rebuilt.", fault=fault.message)
