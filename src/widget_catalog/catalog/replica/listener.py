"""ReplicaListener: what a write to the store does to the replica and to the counts."""

from collections.abc import Callable

import structlog

from ...core.db.engine import Store
from ...core.db.prepared import PreparedRecords
from ...core.db.transaction import Write, prepare_nothing
from ...core.errors import DataDamaged, ReplicaDamaged, StoreUnavailable
from ..store import feed
from .encoding import prepare
from .filling import NewReplica
from .replica import Replica
from .revision import Counts

_log = structlog.get_logger("widget_catalog.replica")


class ReplicaListener:
    """Listens to every write to the store."""

    def __init__(
        self,
        replica: Replica,
        counts: Counts,
        *,
        on_damage: Callable[[DataDamaged], object] | None = None,
        is_shared: bool = False,
        applies: bool = True,
        on_counted: Callable[[], object] = lambda: None,
    ) -> None:
        """`is_shared`: other nodes write to the same store, and `on_counted` tells them. Without
        `applies`, it neither applies nor renders: for commands, which leave that to nodes.
        """
        self._replica = replica
        self._counts = counts
        self._on_damage = on_damage
        self._is_shared = is_shared
        self._applies = applies
        self._on_counted = on_counted
        self.prepare = prepare if applies else prepare_nothing

    def saving(self, highest_id: int) -> None:
        self._counts.reserve(highest_id)

    def begin_copy(self, at_ms: int) -> NewReplica | None:
        return self._replica.begin_copy(at_ms)

    def committing(self, tx: Write) -> None:
        if self._is_shared:
            return  # The follower applies it.
        if not tx.is_public and tx.run(feed.LATEST_SEQ)[0][0] != self._replica.shown_seq():
            # A writer that was killed right after its commit left this to the next one.
            tx.mark_public()

    def committed(self, tx: Write) -> None:
        if not tx.counts:
            return
        if self._is_shared:
            self._counts.raise_to(tx.counts.items())
            self._on_counted()
        else:
            self._counts.record(tx.counts.items())

    def published(self, store: Store, prepared: PreparedRecords) -> None:
        """The commit is final, whatever happens here: the next `apply` catches up."""
        if not self._applies:
            return
        try:
            self._replica.apply(store, prepared)
        except StoreUnavailable as error:
            is_derived = isinstance(error, ReplicaDamaged)
            if self._on_damage is not None and isinstance(error, DataDamaged) and not is_derived:
                self._on_damage(error)
            _log.error("What was changed cannot be shown yet.", error=error.message)

    def close(self) -> None:
        self._replica.close()
