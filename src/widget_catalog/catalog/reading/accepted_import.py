"""An accepted import: part of the catalog, and written bit by bit, with pauses for other writers.

`transfer/staged_import.py` stages and accepts it. From then on it is always completed: by the
import itself, or after a crash by the service or the next command. A version that is published
meanwhile comes after what the import has for its widget. Existing data is not changed, so writing
the same drafts again has no effect.
"""

import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from ...core.actors import COMMAND_LINE, Actor
from ...core.db.engine import Store, Transaction
from ...core.hooks import Hooks
from ...core.jobs.periodic import PeriodicJobs
from ..model.events import Imported, PublishBegun, Revoked
from ..model.widgets import Version, Widget
from ..store.drafts import Draft
from ..store.staging import (
    end_import,
    find_import,
    importing,
    list_staged,
    next_batch,
    remove_batch,
    remove_some_batches,
)
from ..store.widgets import add_drafts, find_hashes, find_widgets, replace_widget

# Duration of a transaction, and of the pause after it for other writers.
SLICE_S = 0.1
PAUSE_S = 0.02
# How often a service looks for an interrupted import.
_WATCH_S = 2
# The same on a node that was not notified of anything since, when there was no import.
_UNNOTIFIED_S = 60


def finish_import(store: Store, make_index_ready: Callable[[], None] = lambda: None) -> bool:
    """Finish an import whose process has ended, if there is one. Returns whether there was an
    import.
    """
    with store.reading() as connection:
        if find_import(connection) is None:
            return False
    with importing(store) as other:
        if other is None:
            complete_import(store, make_index_ready)
    return True


def watch_imports(store: Store, notifications: Callable[[], int] | None = None) -> PeriodicJobs:
    """Finish imports whose process was killed, as long as the service runs. `notifications` differs
    once a node has changed something.

    The search index is left to the workers, which have it built in a separate process.
    """
    watch = _Watch(store, notifications)
    return PeriodicJobs("imports", watch.look, interval_s=_WATCH_S)


class _Watch:
    def __init__(self, store: Store, notifications: Callable[[], int] | None) -> None:
        self._store = store
        self._notifications = notifications
        self._seen: int | None = None
        self._looked_at = float("-inf")

    def look(self) -> None:
        seen = None if self._notifications is None else self._notifications()
        is_late = time.monotonic() - self._looked_at >= _UNNOTIFIED_S
        if seen is None or seen != self._seen or is_late:
            was_there = finish_import(self._store)
            self._looked_at = time.monotonic()
            # As long as there is one, its process may be killed, which notifies nobody.
            self._seen = None if was_there else seen


def complete_import(store: Store, make_index_ready: Callable[[], None]) -> None:
    """Finish an accepted import, or remove what was staged and never accepted."""
    with store.reading() as connection:
        staged = find_import(connection)
    if staged is None:
        return
    if not staged.is_accepted:
        discard_import(store)
        return
    while write_some(store):
        time.sleep(PAUSE_S)
    # First, because until the import has ended, searches do not include its changes.
    make_index_ready()
    with store.writing() as tx:
        end_import(tx)


def write_some(store: Store) -> bool:
    """Write for a short time, at least one batch; returns whether there is more."""
    with store.publishing() as tx:
        until = time.monotonic() + SLICE_S
        while batch := next_batch(tx):
            write_drafts(tx, batch.drafts)
            remove_batch(tx, batch.number)
            if time.monotonic() >= until:
                return True
    return False


def discard_import(store: Store) -> None:
    """Remove what is staged, unless it was accepted after all: a failed commit may
    have succeeded.
    """
    has_more = True
    while has_more:
        with store.publishing() as tx:
            staged = find_import(tx.connection)
            if staged is None or staged.is_accepted:
                return
            has_more = remove_some_batches(tx)
            if not has_more:
                end_import(tx)


def write_drafts(tx: Transaction, drafts: Sequence[Draft]) -> None:
    """Write what is missing, in order."""
    seen = set(find_hashes(tx.connection, sorted({it.key for it in drafts})))
    new, others = [], []
    for draft in drafts:
        if draft.key in seen:
            others.append(draft)
        else:
            seen.add(draft.key)
            new.append(draft)
    add_drafts(tx, new)
    merge_drafts(tx, others)


def merge_drafts(tx: Transaction, drafts: Iterable[Draft]) -> None:
    """Add missing versions to existing widgets."""
    rest = list(drafts)
    # The same widget may be in several drafts: each is compared with the previous state.
    while rest:
        first: dict[tuple[str, str], Draft] = {}
        again = []
        for draft in rest:
            if draft.key in first:
                again.append(draft)
            else:
                first[draft.key] = draft
        for key, old in find_widgets(tx.connection, list(first)).items():
            new = first[key].to_widget()
            if added := _missing(old.widget, new):
                version = added[0].number if len(added) == 1 else None
                imported = Imported(scope=new.scope, name=new.name, version=version)
                merged = _merged(old.widget, new, added)
                revoked = [
                    Revoked(
                        scope=new.scope,
                        name=new.name,
                        version=one.number,
                        reason=one.revocation.reason,
                    )
                    for one in added
                    if one.revocation is not None
                ]
                replace_widget(tx, old, merged, COMMAND_LINE, imported, *revoked)
        rest = again


def _missing(old: Widget, new: Widget) -> list[Version]:
    known = {version.identity for version in old.versions}
    return [version for version in new.versions if version.identity not in known]


def _merged(old: Widget, new: Widget, added: list[Version]) -> Widget:
    merged = old.with_versions([*old.versions, *added])
    if merged.versions[0] not in added:
        return merged
    # The newest version determines the widget's own texts.
    return msgspec.structs.replace(
        merged, display_name=new.display_name, description=new.description, icon=new.icon
    )


def _write_staged(tx: Transaction, _by: Actor, event: PublishBegun) -> None:
    """Write what the import still has for this widget: the new version comes after it."""
    if staged := list_staged(tx, event.scope, event.name):
        write_drafts(tx, staged)


HOOKS: Hooks = {PublishBegun: _write_staged}
