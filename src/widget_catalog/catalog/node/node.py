"""Node: an opened data folder, and what is done before it is served; and how much memory the caches
of a worker may take.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...core import clock
from ...core.clock import Clock
from ...core.data_folder import DataFolder
from ...core.db.damage import DamageAlarm
from ...core.db.engine import Store
from ...core.db.file_lock import COMMAND, WaitPolicy
from ...core.db.listening import require_notifications
from ...core.db.migrate import is_new, migrate
from ...core.db.postgresql import FEW_CONNECTIONS, postgresql_engine
from ...core.db.sqlite import sqlite_engine
from ...core.db.transaction_ids import transaction_horizon
from ...core.errors import BundlesUnusable, DatabaseDown, FolderUnusable, StoreUnavailable
from ...core.files.contract import Bundles, Uploads
from ...core.settings import Backends, Settings
from ..model.settings import CatalogSettings
from ..replica.file import discard, find_current
from ..replica.filling import Bar, no_bar
from ..replica.integrity import is_intact
from ..replica.listener import ReplicaListener
from ..replica.node_status import NodeStatus
from ..replica.replica import Replica
from ..replica.revision import Counts, Revision
from .opening import (
    bundles_in,
    check_bundles,
    check_writable,
    make_folder,
    require_no_loss,
    require_no_traces_of,
    unusable,
    uploads_in,
)

if TYPE_CHECKING:
    from ..reading.catalog import CatalogReader


_USUAL_BYTES = 80 << 20
# For a catalog that fits: at most this much, and this share of the memory for all workers.
_MAX_BYTES = 256 << 20
_SHARE_OF_MEMORY = 16
# Details, search results, cards, registries and results of `resolve` take two and a half times as
# much as the replica.
_OF_REPLICA = 2.5


def choose_cache_bytes(settings: Settings) -> int:
    """As set; or enough for the whole catalog, if that is not too much; or else the usual."""
    if given := settings.of(CatalogSettings).cache_mb:
        return given << 20
    current = find_current(DataFolder(settings.data).replica)
    try:
        whole = 0 if current is None else int(_OF_REPLICA * current.stat().st_size)
    except OSError:  # It has just been replaced.
        whole = 0
    allowed = min(_MAX_BYTES, memory_bytes() // _SHARE_OF_MEMORY // settings.workers)
    return whole if _USUAL_BYTES < whole <= allowed else _USUAL_BYTES


def memory_bytes(control_groups: Path = Path("/sys/fs/cgroup")) -> int:
    """The memory of this machine, or of the container or service that this process runs in."""
    limits: list[int | None] = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::/"):
                own = control_groups / line.removeprefix("0::/")
                limits += [_limit_of(it) for it in (own, *own.parents)]
    return min(it for it in limits if it is not None)


def _limit_of(control_group: Path) -> int | None:
    try:
        return int((control_group / "memory.max").read_text())
    except (OSError, ValueError):  # There is none, or it is "max".
        return None


_FOLDER = Backends()
# How long an opened folder waits for others that update the replica, such as a large import.
_APPLY_TIMEOUT_S = 60.0
# A load balancer asks another node after a second, which builds its index at the same time.
_INDEX_WAIT_S = 0.5


class Node(NamedTuple):
    """An opened data folder: the store, the shared parts of its read model, and the bundles."""

    folder: DataFolder
    store: Store
    replica: Replica
    revision: Revision
    counts: Counts
    bundles: Bundles
    uploads: Uploads
    status: NodeStatus | None = None
    """Of a node that shares its database with others."""
    applies: bool = True
    """Whether changes are applied to its replica; a command may leave this to the nodes."""
    is_prepared: bool = True
    """Whether the counts are as stored; not so if another process was writing."""
    is_replica_intact: bool = True
    """Whether the replica was, before it was rebuilt."""
    is_cut_off: bool = False
    """Whether the database did not answer, so that the replica is as it was."""


def open_node(
    path: Path,
    *,
    is_durable: bool = True,
    now: Clock = clock.now,
    is_watched: bool = False,
    wait_policy: WaitPolicy = COMMAND,
    may_create: bool = False,
    backends: Backends = _FOLDER,
    applies: bool = True,
    max_connections: int = FEW_CONNECTIONS,
) -> Node:
    """Open a data folder whose database is prepared, or create an empty one with `may_create`.

    `is_watched`: by a service, which alerts its operator to damage; a command prints it. Without
    `applies` it has no read model, for commands that leave this to the nodes. `max_connections`
    to PostgreSQL.
    """
    folder = DataFolder(path)
    revision, counts = Revision(folder.revision), Counts(folder.counts)
    on_damage = DamageAlarm(folder.damage).report if is_watched else None
    is_shared = bool(backends.database)
    status = NodeStatus(folder.node_status) if is_shared else None
    replica = Replica(
        folder,
        revision,
        counts,
        program=_program(),
        on_damage=on_damage,
        is_shared=is_shared,
    )
    listener = ReplicaListener(
        replica,
        counts,
        on_damage=on_damage,
        is_shared=is_shared,
        applies=applies,
        on_counted=status.note_counted if status is not None else lambda: None,
    )
    if status is not None:
        engine = postgresql_engine(
            backends.database,
            _program(),
            is_service=is_watched,
            lost_at_s=status.lost_at_s,
            max_connections=max_connections,
        )
    else:
        engine = sqlite_engine(folder.database, is_durable=is_durable, may_create=may_create)
    store = Store(
        engine,
        None if is_shared else folder.writer_lock,
        listener,
        now,
        on_damage=on_damage,
        wait_policy=wait_policy,
        program=_program(),
        run_folder=folder.writer_lock.parent,
        check_up=status.check_database if status is not None and is_watched else lambda: None,
        check_release=status.check_release if status is not None and is_watched else lambda: None,
    )
    bundles, uploads = bundles_in(folder, backends), uploads_in(folder, backends)
    return Node(folder, store, replica, revision, counts, bundles, uploads, status, applies)


def make_index_ready(node: Node) -> None:
    """Build the index after many changes, so that the next start, or a running service, need not
    wait for it.
    """
    if not node.applies:
        return
    from ..search.file import keep_index

    keep_index(node.folder.replica, node.folder.search_index)


def prepare_node(
    path: Path,
    *,
    states_counts: bool = True,
    checks_replica: bool = False,
    bar: Bar = no_bar,
    may_begin_anew: bool = False,
    on_wait: Callable[[str], None] | None = None,
    on_outage: Callable[[str], None] | None = None,
    backends: Backends = _FOLDER,
    applies: bool = True,
) -> Node:
    """Create the folder if necessary, migrate the database, update the replica, and open it.

    Raises CatalogMissing if the database was lost, unless `may_begin_anew`. Waits for another
    writer only if this changes the database; `on_wait` is then called with the holder. With
    `checks_replica`, a damaged replica is rebuilt, like a missing one. If database or bundles are
    unreachable, `on_outage` is called with the reason, and the node serves its last state; without
    `on_outage`, or without any state, the error is raised.
    """
    folder = DataFolder(path)
    may_begin_anew = may_begin_anew or bool(backends.database)
    if not may_begin_anew:
        require_no_loss(folder)
    make_folder(folder)
    try:
        # A restored backup has no counts file, so there is nothing to check.
        had_counts = folder.counts.exists()
        is_replica_intact = not checks_replica or _can_be_indexed(folder)
        if not is_replica_intact:
            discard(folder.replica)
        node = open_node(
            path,
            wait_policy=COMMAND._replace(on_wait=on_wait),
            may_create=True,
            backends=backends,
            applies=applies,
        )
    except OSError as error:
        raise unusable(path, error) from None
    check_writable(path)
    # On a node that has never run here, the settings may be wrong.
    can_show = had_counts and node.replica.is_readable()
    report = on_outage if can_show else None
    try:
        if applies:
            check_bundles(backends)
    except BundlesUnusable as problem:
        if report is None:
            raise
        report(problem.message)
    try:
        if not may_begin_anew and is_new(node.store):
            require_no_traces_of(folder, is_opened=True)
        if applies and backends.database:
            require_notifications(backends.database)
        migrate(node.store)
        if not applies:
            return node
        node.replica.remove_leftovers()
        node.replica.apply(node.store, bar=bar, timeout_s=_APPLY_TIMEOUT_S)
        if node.status is not None:
            # Before the counts are read, so that concurrent counts are not missed.
            node.status.counted = transaction_horizon(node.store)
            node.status.database_responded(node.replica.applied_seq())
            node.status.applied(node.replica.applied_seq())
        if states_counts or not had_counts:
            node = node._replace(is_prepared=node.replica.stored_counts.correct(node.store))
    except DatabaseDown as problem:
        if report is None or node.status is None:
            raise
        report(f"The database cannot be used: {problem.reason}")
        node.status.database_failed()
        node = node._replace(is_cut_off=True)
    except StoreUnavailable as error:
        raise FolderUnusable(f"The data folder {path} cannot be used: {error.message}") from None
    return node._replace(is_replica_intact=is_replica_intact)


def _can_be_indexed(folder: DataFolder) -> bool:
    from ..search.file import check_index

    return is_intact(folder.replica, partial(check_index, folder.replica, folder.search_index))


def _program() -> str:
    """The name that other processes see: the program and its command, without secrets."""
    name = Path(sys.argv[0]).name
    command = next((word for word in sys.argv[1:] if word.isalpha()), "")
    return f"{'widget-catalog' if name == '__main__.py' else name} {command}".strip()[:80]


def open_catalog(node: Node, settings: Settings, now: Clock = clock.now) -> "CatalogReader":
    """A reader of this node's catalog, with its own index and caches."""
    from ..reading.catalog import CatalogReader
    from ..replica.reader import ReplicaReader
    from ..search.follower import IndexSource

    reader = ReplicaReader(node.folder.replica)
    return CatalogReader(
        reader,
        node.revision,
        node.counts,
        settings.cdn_url,
        choose_cache_bytes(settings),
        now,
        index_source=IndexSource(node.folder.replica, node.folder.search_index),
        index_wait_s=None if node.status is None else _INDEX_WAIT_S,
    )
