"""DeliveryScheduler: decides what is sent to webhooks, in rounds.

A round records results, queues new changes of the feed, and claims due deliveries. It reads first,
and writes only if necessary. Threads do the sending, never inside a transaction. Deliveries
claimed by a process that is killed are sent again by another one later, with the same ids.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec
import structlog

from ..catalog.reading.changes import ListedChange, shown_change, type_of
from ..catalog.replica.rows import ChangeRow
from ..catalog.store.events import append
from ..catalog.store.feed import latest_seq
from ..core.actors import SERVICE
from ..core.db.engine import Store, Transaction
from .model import (
    BOTH_SECRETS_MS,
    DISABLED_AFTER_MS,
    RETRIED_FOR_MS,
    Delivery,
    Outcome,
    Webhook,
    WebhookDisabled,
    pause_ms,
    rest_ms,
)
from .store import (
    DELIVERED,
    FAILED,
    WAITING,
    NamedChange,
    add_deliveries,
    advance,
    change_delivery,
    change_webhook,
    claim_delivery,
    count_waiting,
    disable_webhook,
    find_webhook,
    list_deliveries_due,
    list_due,
    list_followers,
    list_named_changes,
    list_outdated,
    oldest_position,
    remove_deliveries,
)

_log = structlog.get_logger("widget_catalog.webhooks")

_PER_BATCH = 20
# A claimed delivery without a recorded result is sent again after this time, which is longer than
# any batch takes.
_CLAIMED_FOR_MS = 120_000
_CHANGES_AT_ONCE = 500
# A webhook with this many pending deliveries gets no new ones; they stay in the feed.
_MAX_WAITING = 200
# Number of completed deliveries that are kept per webhook.
_KEPT_EACH = 200
_KEPT_FOR_MS = 7 * 86_400_000
_PRUNED_AT_ONCE = 1_000
_GONE = 410
# Webhooks served concurrently; deliveries of one webhook are sent one after the other.
_AT_ONCE = 16
# Lower for one owner: slow receivers, however many, leave room for those of others.
_OWNER_AT_ONCE = 4

_encode = msgspec.json.Encoder().encode

Send = Callable[[Webhook, list[str], list[Delivery]], list[Outcome]]
"""Sends these, signed with these secrets, and says what became of each."""


class Turns:
    """Whose webhooks are served next, so that no owner keeps the others waiting. Used by one
    thread.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._served: dict[str, int] = {}

    def choose(self, due: Iterable[Webhook], busy: Iterable[Webhook]) -> list[Webhook]:
        """Which of the due webhooks are served while `busy` ones are. The owner with the fewest
        comes first; among equals, the one who has waited longest since the last turn.
        """
        taken = Counter(it.owner for it in busy)
        free = _AT_ONCE - taken.total()
        waiting: dict[str, list[Webhook]] = {}
        for webhook in due:
            waiting.setdefault(webhook.owner, []).append(webhook)
        # Who has had nothing to deliver comes first again.
        self._served = {it: turn for it, turn in self._served.items() if it in waiting}
        chosen: list[Webhook] = []
        while len(chosen) < free:
            owners = [it for it in waiting if waiting[it] and taken[it] < _OWNER_AT_ONCE]
            if not owners:
                break
            owner = min(owners, key=lambda it: (taken[it], self._served.get(it, 0)))
            chosen.append(waiting[owner].pop(0))
            taken[owner] += 1
            self._turn += 1
            self._served[owner] = self._turn
        return chosen


class DeliveryScheduler:
    def __init__(
        self,
        store: Store,
        open_secret: Callable[[str], str | None],
        send: Send,
        on_done: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_done` is called by threads when there are outcomes to record."""
        self._store = store
        self._open_secret = open_secret
        self._send = send
        self._on_done = on_done
        self._lock = threading.Lock()
        self._turns = Turns()
        self._busy: dict[str, tuple[Webhook, threading.Thread]] = {}
        self._done: list[tuple[Webhook, list[Outcome]]] = []
        self.counts = Counter(delivered=0, retried=0, failed=0, disabled=0)
        """Deliveries by what became of them, and disabled webhooks, since the start. No key is
        ever added: another thread reads it.
        """
        self.waiting = 0
        """Pending deliveries of all webhooks, at the last round."""

    @property
    def has_work(self) -> bool:
        """Whether something is being sent, or has to be sent now or later."""
        return bool(self.waiting or self._busy)

    def run_round(self) -> bool:
        """Returns whether there is more to do immediately."""
        is_recorded = self.record()
        has_more = self._queue()
        self._start_sending()
        return is_recorded or has_more

    def wait(self, timeout_s: float) -> None:
        """Wait until nothing is being sent, with a timeout."""
        for _, thread in list(self._busy.values()):
            thread.join(timeout_s)

    def prune(self) -> None:
        """Remove finished deliveries, except the newest of each webhook."""
        now_ms = self._store.now_ms()
        with self._store.reading() as connection:
            outdated = list_outdated(connection, now_ms - _KEPT_FOR_MS, _KEPT_EACH, _PRUNED_AT_ONCE)
        if outdated:
            with self._store.writing() as tx:
                remove_deliveries(tx, outdated)

    def record(self) -> bool:
        """Record what became of deliveries; returns whether there were any."""
        with self._lock:
            done = list(self._done)
        if not done:
            return False
        outcomes: Counter[str] = Counter()
        with self._store.writing() as tx:
            for webhook, some in done:
                outcomes.update(_record_batch(tx, webhook.id, some))
        self.counts.update(outcomes)
        with self._lock:
            del self._done[: len(done)]
            for webhook, _ in done:
                self._busy.pop(webhook.id, None)
        return True

    def _queue(self) -> bool:
        """Queue new changes for webhooks; returns whether there are more."""
        with self._store.reading() as connection:
            newest, oldest = latest_seq(connection), oldest_position(connection)
            if oldest is None or oldest >= newest:
                return False
            followers = list_followers(connection, _MAX_WAITING)
            behind = [it for it in followers if it.position < newest]
            if not behind:
                return False
            start = min(it.position for it in behind)
            changes = list_named_changes(connection, start, _CHANGES_AT_ONCE)
        if not changes:
            return False
        last = changes[-1].change.seq
        now_ms = self._store.now_ms()
        new = _deliveries(behind, changes, now_ms)
        with self._store.writing() as tx:
            there = [it for it in behind if find_webhook(tx.connection, it.id) is not None]
            ids = {it.id for it in there}
            add_deliveries(tx, [it for it in new if it.webhook_id in ids])
            advance(tx, sorted(ids), last)
        return last < newest

    def _start_sending(self) -> None:
        with self._lock:
            busy = [webhook for webhook, _ in self._busy.values()]
        now_ms = self._store.now_ms()
        with self._store.reading() as connection:
            waiting = list_due(connection, now_ms, [it.id for it in busy], _OWNER_AT_ONCE)
            due = [
                (webhook, list_deliveries_due(connection, webhook.id, now_ms, _PER_BATCH))
                for webhook in self._turns.choose(waiting, busy)
            ]
            self.waiting = count_waiting(connection)
        if not due:
            return
        claimed: list[tuple[Webhook, list[Delivery]]] = []
        with self._store.writing() as tx:
            until = tx.at_ms + _CLAIMED_FOR_MS
            for webhook, some in due:
                mine = [it for it in some if claim_delivery(tx, it, until)]
                claimed.append((webhook, [it._replace(attempts=it.attempts + 1) for it in mine]))
        for webhook, mine in claimed:
            if mine:
                self._start(webhook, mine)

    def _start(self, webhook: Webhook, deliveries: list[Delivery]) -> None:
        # One daemon thread per batch: threads of an executor would delay the end of the process
        # while they wait for a receiver.
        name = f"webhook {webhook.id}"
        thread = threading.Thread(
            target=self._send_batch, args=(webhook, deliveries), name=name, daemon=True
        )
        with self._lock:
            self._busy[webhook.id] = (webhook, thread)
        thread.start()

    def _send_batch(self, webhook: Webhook, deliveries: list[Delivery]) -> None:
        try:
            secrets = self._secrets(webhook)
            if secrets:
                outcomes = self._send(webhook, secrets, deliveries)
            else:
                lost = "The secret cannot be read: its key is lost. Rotate the secret."
                outcomes = [Outcome(it, error=lost) for it in deliveries]
        except Exception:
            _log.exception("A webhook cannot be sent to.", webhook=webhook.id)
            outcomes = [Outcome(it, error="Sending failed.") for it in deliveries]
        with self._lock:
            self._done.append((webhook, outcomes))
        self._on_done()

    def _secrets(self, webhook: Webhook) -> list[str]:
        """The secrets to sign with, the new one first."""
        sealed = [webhook.sealed_secret]
        since = webhook.rotated_at
        if since is not None and self._store.now_ms() < since + BOTH_SECRETS_MS:
            sealed += [webhook.former_sealed_secret] if webhook.former_sealed_secret else []
        opened = [self._open_secret(it) for it in sealed]
        return [it for it in opened if it is not None]


def _deliveries(webhooks: list[Webhook], changes: list[NamedChange], now_ms: int) -> list[Delivery]:
    by_scope: dict[str | None, list[Webhook]] = {}
    for webhook in webhooks:
        by_scope.setdefault(webhook.scope, []).append(webhook)
    found = []
    for named in changes:
        change, type_ = named.change, type_of(named.change.kind)
        body = None
        for webhook in (*by_scope.get(None, ()), *by_scope.get(change.scope, ())):
            if change.seq > webhook.position and webhook.wants(change.scope, type_):
                body = body or _body(named)
                id_ = f"msg_{webhook.id}_{change.seq}"
                new = new_delivery(id_, webhook.id, change.seq, type_, body, now_ms)
                found.append(new._replace(traceparent=named.traceparent))
    return found


def new_delivery(
    id_: str, webhook_id: str, seq: int | None, type_: str, body: str, now_ms: int
) -> Delivery:
    """Due immediately."""
    return Delivery(id_, webhook_id, seq, type_, body, WAITING, now_ms, 0, now_ms)


def _body(named: NamedChange) -> str:
    seq, widget_id, scope, changed_at, kind, version = named.change
    row = ChangeRow(seq, widget_id, scope, named.name, changed_at, kind, version)
    change = shown_change(ListedChange(row, named.is_listed))
    return _encode({"type": change.type, "timestamp": change.at, "data": change}).decode()


def _record_batch(tx: Transaction, webhook_id: str, outcomes: list[Outcome]) -> Counter[str]:
    counts: Counter[str] = Counter()
    now_ms = tx.at_ms
    for outcome in outcomes:
        delivery = outcome.delivery
        tried = {"tried_at": now_ms, "status": outcome.status, "error": outcome.error}
        if not outcome.was_sent:
            released = {"attempts": delivery.attempts - 1, "next_at": now_ms}
            change_delivery(tx, delivery.id, **released)
        elif outcome.is_delivered:
            counts["delivered"] += 1
            change_delivery(tx, delivery.id, state=DELIVERED, next_at=None, **tried)
        elif now_ms - delivery.queued_at >= RETRIED_FOR_MS:
            counts["failed"] += 1
            change_delivery(tx, delivery.id, state=FAILED, next_at=None, **tried)
        else:
            counts["retried"] += 1
            next_at = now_ms + pause_ms(delivery.attempts)
            change_delivery(tx, delivery.id, next_at=next_at, **tried)
    webhook = find_webhook(tx.connection, webhook_id)
    if webhook is not None and webhook.disabled_at is None:
        counts["disabled"] += _record_health(tx, webhook, outcomes)
    return counts


def _record_health(tx: Transaction, webhook: Webhook, outcomes: list[Outcome]) -> int:
    """Update the state of the webhook after these deliveries; returns 1 if it is disabled."""
    sent = [it for it in outcomes if it.was_sent]
    last = sent[-1]
    if last.is_delivered:
        if webhook.failures:
            change_webhook(tx, webhook.id, failures=0, failing_since=None, resumes_at=0)
        return 0
    # An earlier delivery of this batch that succeeded ends the series of failures.
    is_new = webhook.failing_since is None or any(it.is_delivered for it in sent)
    failures = 1 if is_new else webhook.failures + 1
    since = tx.at_ms if is_new else webhook.failing_since or tx.at_ms
    reason = None
    if last.status == _GONE:
        reason = "The receiver responded with 410 (Gone)."
    elif tx.at_ms - since >= DISABLED_AFTER_MS:
        reason = f"Every delivery failed for three days. {last.error}"
    resumes_at = tx.at_ms + rest_ms(failures)
    change_webhook(tx, webhook.id, failures=failures, failing_since=since, resumes_at=resumes_at)
    if reason is None:
        return 0
    disable_webhook(tx, webhook.id, reason)
    append(tx, SERVICE, WebhookDisabled(scope=webhook.scope, webhook=webhook.id, reason=reason))
    _log.warning("A webhook is disabled.", webhook=webhook.id, scope=webhook.scope, reason=reason)
    return 1
