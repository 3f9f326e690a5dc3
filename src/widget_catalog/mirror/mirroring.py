"""Mirroring: finds out what has changed upstream, and copies just that.

Its progress is in the database, next to what it has copied: see `mirror/store.py`. Every step is
idempotent, so a killed process loses nothing.
"""

import itertools
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec

from widget_catalog_client import Catalog, ClientError, FeedExpired, NotFound, Settings
from widget_catalog_client.flows import BEHIND_S, MAX_BEHIND
from widget_contract.names import is_widget_key
from widget_contract.texts import printable

from ..catalog.replica.filling import Bar, Progress, no_bar
from ..catalog.replica.revision import MAX_WIDGETS
from ..catalog.store.events import append
from ..catalog.store.files import withdraw_files
from ..catalog.store.widgets import Key, stream_widgets
from ..core.actors import COMMAND_LINE
from ..core.db.engine import Store, Transaction
from ..core.errors import MirrorRefused
from ..core.files.contract import Bundles
from .other_hosts import OtherHosts
from .scope_copies import Copy, ScopeCopies, save_copy
from .store import (
    Mirror,
    MirroringBegun,
    add_tasks,
    count_tasks,
    find_mirror,
    finish_tasks,
    list_tasks,
    record_round,
    remove_mirror,
    require_empty,
    save_mirror,
)
from .upstream import MirrorError, Upstream

_CHANGES_PER_PAGE = 1000
_RESULTS_PER_PAGE = 100
# In one run: far more changes than a catalog retains.
_MAX_PAGES_OF_CHANGES = 1_000
# Pages are sorted by popularity, so a widget may move between them while they are read.
_MAX_WALKS = 5
_AT_ONCE = 8
# After this many consecutive failures, the catalog itself is considered unavailable.
_MAX_UNAVAILABLE = 20
# By then, the services on this folder say that it is a mirror, so loops of mirrors are detected.
_SHOWN_WITHIN_S = 1.0


class Selection(NamedTuple):
    """Which widgets to copy: of these scopes (empty: of all), and only official ones or not."""

    scopes: tuple[str, ...] = ()
    only_official: bool = False


class Round(NamedTuple):
    """The result of a run. Widgets with errors are retried in the next."""

    changed: int
    errors: list[str]


class Mirroring:
    """`own_url` is the public URL of this catalog, if it is known."""

    def __init__(
        self,
        store: Store,
        bundles: Bundles,
        catalog: Catalog,
        max_bundle_bytes: int,
        others: OtherHosts | None = None,
        own_url: str = "",
    ) -> None:
        self._store = store
        self._bundles = bundles
        self._catalog = catalog
        self._max_bundle_bytes = max_bundle_bytes
        self._others = others or OtherHosts()
        self._own_url = own_url.rstrip("/")

    def begin(self, wanted: Selection) -> None:
        """Make this catalog a mirror, or check that it is one of the same upstream."""
        with self._store.reading() as connection:
            before = find_mirror(connection)
        if before is not None and before.scopes != wanted.scopes:
            require_scopes(self._catalog, wanted)
        if self._claim(wanted):
            time.sleep(_SHOWN_WITHIN_S)
            try:
                self._checked_settings()
                require_scopes(self._catalog, wanted)
            except BaseException:
                with self._store.publishing() as tx:
                    remove_mirror(tx)
                raise
            with self._store.writing() as tx:
                append(tx, COMMAND_LINE, MirroringBegun(url=self._catalog.url))

    def _claim(self, wanted: Selection) -> bool:
        """Whether it has just become a mirror."""
        url = self._catalog.url
        with self._store.publishing() as tx:
            mirror = find_mirror(tx.connection)
            if mirror is None:
                require_empty(tx)
                save_mirror(tx, Mirror(url, secrets.token_hex(8), (), *wanted))
                return True
            if mirror.url != url:
                raise MirrorRefused(
                    f"This catalog is a mirror of {mirror.url}, not of {url}. Use another data "
                    "folder."
                )
            if Selection(mirror.scopes, mirror.only_official) != wanted:
                save_mirror(tx, mirror._replace(**wanted._asdict(), seq=None))
        return False

    def run(self, bar: Bar = no_bar) -> Round:
        """Bring this catalog up to date with the upstream. If nothing has changed, this is one
        request. Raises ClientError if the upstream cannot be read.
        """
        try:
            self._note_changes()
        except FeedExpired:
            self._save(seq=None)
        settings = None
        if self._get().seq is None:
            settings = self._checked_settings()
            self._list_everything()
        with self._store.reading() as connection:
            left = count_tasks(connection)
        if not left:
            self._save(checked_at=self._store.now_ms())
            return Round(0, [])
        with bar(left) as progress:
            done = self._copy_all(settings or self._checked_settings(), progress)
        self._save(checked_at=self._store.now_ms())
        return done

    @property
    def seq(self) -> int:
        """The last change of the upstream that was processed."""
        return self._get().seq or 0

    def _get(self) -> Mirror:
        with self._store.reading() as connection:
            mirror = find_mirror(connection)
        if mirror is None:
            raise MirrorRefused("This catalog is no longer a mirror.")
        return mirror

    def _save(self, **changes: object) -> None:
        with self._store.writing() as tx:
            self._change(tx, **changes)

    def _change(self, tx: Transaction, **changes: object) -> None:
        mirror = find_mirror(tx.connection)
        if mirror is not None:
            save_mirror(tx, mirror._replace(**changes))  # type: ignore[arg-type]

    def _checked_settings(self) -> Settings:
        """Raises MirrorRefused if the upstream is itself a mirror of this catalog."""
        own = self._get().mirror_id
        settings = self._catalog.settings()
        above = settings.mirror_of
        if above is msgspec.UNSET:
            self._save(through=())
            return settings
        url = self._catalog.url
        if above.id == own:
            raise MirrorRefused(f"{url} is this catalog itself: it cannot be its own mirror.")
        if own in above.through or self._is_itself(above.url, own):
            raise MirrorRefused(
                f"{url} is a mirror of {printable(above.url[:200])}, which is made from this "
                "catalog: mirrors in a circle would never get anything new."
            )
        self._save(through=(above.id, *above.through))
        return settings

    def _is_itself(self, url: str, own: str) -> bool:
        """Whether that URL is this catalog; False if there is no response, or none is requested
        because the host is not public. Then the other mirror recognises the circle.
        """
        if self._own_url and url.rstrip("/") == self._own_url:
            return True
        try:
            above = self._others.mirror_of(url)
        except ClientError:
            return False
        return above is not msgspec.UNSET and above.id == own

    def _note_changes(self) -> None:
        """Add tasks for the widgets that have changed since the last run."""
        seq = self._get().seq
        times_behind = 0
        # The rest, if there is any, is left to the next run.
        for _ in range(_MAX_PAGES_OF_CHANGES):
            if seq is None:
                return
            page = self._catalog.changes(seq, limit=_CHANGES_PER_PAGE)
            if page.newest < seq and times_behind < MAX_BEHIND:
                times_behind += 1
                time.sleep(BEHIND_S)
                continue
            if page.newest < seq:
                raise FeedExpired("It is not the same catalog any more.")
            if page.changes:
                if page.next <= seq:
                    raise MirrorError(f"{self._catalog.url} repeats its changes.")
                seq = page.next
                with self._store.writing() as tx:
                    add_tasks(tx, self._wanted_keys(it.id for it in page.changes))
                    self._change(tx, seq=seq)
            if seq >= page.newest or not page.changes:
                return

    def _wanted_keys(self, ids: Iterable[str]) -> Iterator[Key]:
        scopes = self._get().scopes
        for widget_id in ids:
            scope, _, name = widget_id.partition("/")
            if is_widget_key(widget_id) and (not scopes or scope in scopes):
                yield scope, name

    def _list_everything(self) -> None:
        """Add tasks for all widgets, local and upstream. The sequence number is read first, so
        that concurrent changes are processed again.
        """
        seq = self._catalog.revocations().revision
        mirror = self._get()
        keys: set[Key] = set()
        for scope in mirror.scopes or (None,):
            keys |= self._list_widgets(scope, official=True if mirror.only_official else None)
        with self._store.reading() as connection:
            for stored in stream_widgets(connection):
                keys.add((str(stored.widget.scope), str(stored.widget.name)))
        with self._store.writing() as tx:
            add_tasks(tx, keys)
            self._change(tx, seq=seq)

    def _list_widgets(self, scope: str | None, *, official: bool | None) -> set[Key]:
        found: set[Key] = set()
        for _ in range(_MAX_WALKS):
            seen: set[str] = set()
            for page in itertools.count(1):
                results = self._catalog.search(
                    scope=scope, official=official, page=page, limit=_RESULTS_PER_PAGE
                )
                ids = {f"{it.scope}/{it.name}" for it in results.widgets}
                found |= set(self._wanted_keys(ids))
                # Whatever the total says, a page without anything new is the last one.
                if ids <= seen or page * _RESULTS_PER_PAGE >= results.total:
                    break
                seen |= ids
                if len(seen) > MAX_WIDGETS:
                    raise MirrorError(f"{self._catalog.url} lists more widgets than can be stored.")
            if len(found) >= results.total:
                break
        return found

    def _copy_all(self, settings: Settings, progress: Progress) -> Round:
        changed: Counter[str] = Counter()
        errors: list[str] = []
        in_a_row = 0
        with self._store.reading() as connection:
            tasks = list_tasks(connection)
        try:
            with (
                self._others.client() as http,
                Catalog(self._catalog.url, http=http) as elsewhere,
                ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="mirror") as pool,
            ):
                upstream = Upstream(
                    self._catalog,
                    elsewhere,
                    settings,
                    self._bundles,
                    self._max_bundle_bytes,
                    self._store.now_ms(),
                )
                for scope, keys in itertools.groupby(tasks, key=lambda it: it[0]):
                    in_scope = ScopeCopies(upstream, self._get(), self._store, scope, list(keys))
                    for batch in in_scope.batches():
                        copies = list(pool.map(in_scope.copy, batch))
                        errors += [it.error for it in copies if it.error is not None]
                        changed[scope] += self._write([it for it in copies if it.error is None])
                        for copy in copies:
                            in_a_row = in_a_row + 1 if copy.unavailable else 0
                            if copy.unavailable and in_a_row >= _MAX_UNAVAILABLE:
                                raise copy.unavailable
                        progress(len(batch))
        finally:  # An interrupted round may have changed something, too.
            record_round(self._store, self._catalog.url, changed)
        return Round(changed.total(), errors)

    def _write(self, copies: list[Copy]) -> int:
        changed = 0
        with self._store.publishing() as tx:
            tx.is_mirroring = True
            for copy in copies:
                if copy.wanted is not None:
                    changed += save_copy(tx, self._bundles, copy.wanted)
            finish_tasks(tx, [it.key for it in copies])
        withdraw_files(self._store, self._bundles)
        return changed


def require_scopes(catalog: Catalog, wanted: Selection) -> None:
    """Raises MirrorRefused if the upstream does not have one of them."""
    missing = [it for it in wanted.scopes if not _is_scope(catalog, it)]
    if missing:
        what = "scope" if len(missing) == 1 else "scopes"
        raise MirrorRefused(f"{catalog.url} has no {what} {', '.join(missing)}.")


def _is_scope(catalog: Catalog, scope: str) -> bool:
    if catalog.search(scope=scope, limit=1).total:
        return True
    try:
        catalog.registry(scope)  # The registry of a scope without listed widgets is empty.
    except NotFound:
        return False
    return True
