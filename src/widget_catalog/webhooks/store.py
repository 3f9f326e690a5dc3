"""Webhooks, and their pending deliveries."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text
from sqlalchemy.engine import Connection

from ..catalog.store.feed import StoredChange
from ..catalog.store.tables import changes, scopes, widgets
from ..core.actors import COMMAND_LINE
from ..core.db import rows
from ..core.db.bulk import insert_into
from ..core.db.engine import Transaction
from ..core.db.schema import SEALED, Name, metadata
from .model import Delivery, Webhook

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scope", Name, index=True),  # Null: the whole catalog.
    Column("url", Text, nullable=False),
    Column("types", Text, nullable=False),  # A JSON list; empty: all.
    # Encrypted with a key that is not in the database; the old secret stays valid for a day.
    Column("sealed_secret", Text, nullable=False, info={SEALED: True}),
    Column("former_sealed_secret", Text, info={SEALED: True}),
    Column("rotated_at", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("failing_since", BigInteger),
    Column("resumes_at", BigInteger, nullable=False),
    Column("disabled_at", BigInteger),
    Column("disabled_reason", Text),
)

deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", Text, primary_key=True),
    Column("webhook_id", Text, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    Column("seq", BigInteger),
    Column("type", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("queued_at", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", BigInteger),
    Column("tried_at", BigInteger),
    Column("status", Integer),
    Column("error", Text),
    Column("traceparent", Text),
    Index("ix_webhook_deliveries_state_next_at", "state", "next_at"),
    Index("ix_webhook_deliveries_webhook_id_queued_at", "webhook_id", "queued_at"),
)


WAITING, DELIVERED, FAILED = "waiting", "delivered", "failed"

_decode = msgspec.json.Decoder(tuple[str, ...]).decode
_encode = msgspec.json.Encoder().encode


class NamedChange(NamedTuple):
    """A change, its trace, and its widget's name and whether it is listed now."""

    change: StoredChange
    traceparent: str | None
    name: str
    is_listed: bool


def lock_scope(tx: Transaction, scope: str) -> None:
    """Locks adding webhooks to this scope."""
    query = sa.select(scopes.c.name).where(scopes.c.name == scope)
    tx.connection.execute(query.with_for_update()).first()


def is_scope(connection: Connection, scope: str) -> bool:
    """Whether it has an owner or widgets."""
    taken = sa.select(scopes.c.name).where(scopes.c.name == scope)
    used = sa.select(widgets.c.scope).where(widgets.c.scope == scope).limit(1)
    return any(connection.execute(it).first() is not None for it in (taken, used))


def add_webhook(tx: Transaction, webhook: Webhook) -> None:
    rows.insert(tx, webhooks, webhook._asdict() | {"types": _encode(webhook.types).decode()})


def find_webhook(connection: Connection, id_: str) -> Webhook | None:
    row = connection.execute(sa.select(webhooks).where(webhooks.c.id == id_)).first()
    return None if row is None else _webhook_from(row)


def list_webhooks(
    connection: Connection, of: Collection[str | None] | None = None
) -> list[Webhook]:
    """Those of these scopes, with None for the whole catalog; or all of them."""
    query = sa.select(webhooks).order_by(webhooks.c.created_at, webhooks.c.id)
    if of is not None:
        is_named = webhooks.c.scope.in_([it for it in of if it is not None])
        query = query.where(
            sa.or_(is_named, webhooks.c.scope.is_(None)) if None in of else is_named
        )
    return [_webhook_from(row) for row in connection.execute(query)]


def list_enabled_webhooks(connection: Connection, scope: str | None = None) -> list[Webhook]:
    """Those of one scope, or all of them."""
    found = list_webhooks(connection, None if scope is None else [scope])
    return [it for it in found if it.disabled_at is None]


def count_webhooks(connection: Connection, scope: str) -> int:
    return rows.count(connection, webhooks.c.scope == scope)


def count_waiting(connection: Connection) -> int:
    """Pending deliveries of all webhooks."""
    return rows.count(connection, deliveries.c.state == WAITING)


def change_webhook(tx: Transaction, id_: str, **values: Any) -> None:
    rows.update(tx, webhooks, values, id=id_)


def remove_webhook(tx: Transaction, id_: str) -> bool:
    rows.delete(tx, deliveries, webhook_id=id_)
    return rows.delete(tx, webhooks, id=id_)


def remove_webhooks_of(tx: Transaction, scope: str) -> None:
    """Together with the scope's owner."""
    for webhook in list_webhooks(tx.connection, [scope]):
        remove_webhook(tx, webhook.id)


def disable_webhook(tx: Transaction, id_: str, reason: str) -> None:
    change_webhook(tx, id_, disabled_at=tx.at_ms, disabled_reason=reason)
    failed = {"state": FAILED, "next_at": None, "error": reason}
    rows.update(tx, deliveries, failed, webhook_id=id_, state=WAITING)


def add_deliveries(tx: Transaction, new: Sequence[Delivery]) -> None:
    """Existing ones are not changed."""
    if new:
        insert = insert_into(tx.connection.dialect.name, deliveries).on_conflict_do_nothing()
        tx.connection.execute(insert, [it._asdict() for it in new])


def find_delivery(connection: Connection, webhook_id: str, id_: str) -> Delivery | None:
    return rows.find(connection, Delivery, deliveries, webhook_id=webhook_id, id=id_)


def find_waiting(connection: Connection, webhook_id: str, kind: str) -> Delivery | None:
    """A pending delivery of this type."""
    query = _waiting(webhook_id).where(deliveries.c.type == kind)
    row = connection.execute(query.limit(1)).first()
    return None if row is None else Delivery(*row)


def list_deliveries(
    connection: Connection, webhook_id: str, page: int, limit: int
) -> tuple[list[Delivery], int]:
    """Newest first, and the total."""
    newest_first = (deliveries.c.queued_at.desc(), deliveries.c.seq.desc(), deliveries.c.id)
    query = sa.select(deliveries).where(deliveries.c.webhook_id == webhook_id)
    found, total = rows.read_page(connection, query.order_by(*newest_first), page, limit)
    return [Delivery(*row) for row in found], total


def change_delivery(tx: Transaction, id_: str, **values: Any) -> None:
    rows.update(tx, deliveries, values, id=id_)


def claim_delivery(tx: Transaction, delivery: Delivery, until: int) -> bool:
    """Count the attempt; returns whether this process should send it."""
    claimed = {"attempts": delivery.attempts + 1, "next_at": until}
    unchanged = {"id": delivery.id, "state": WAITING, "attempts": delivery.attempts}
    return rows.update(tx, deliveries, claimed, **unchanged)


def list_due(
    connection: Connection, now_ms: int, busy: Collection[str], most_each: int
) -> list[Webhook]:
    """Webhooks with due deliveries that are not busy, longest waiting first: a few of every
    owner.
    """
    since = sa.func.min(deliveries.c.next_at)
    # As Webhook.owner.
    added_on_the_command_line = webhooks.c.created_by == COMMAND_LINE.name
    owner = sa.case((added_on_the_command_line, webhooks.c.scope), else_=webhooks.c.created_by)
    place = sa.func.row_number().over(partition_by=owner, order_by=since)
    due = (
        sa.select(webhooks.c.id, since.label("since"), place.label("place"))
        .join(deliveries, deliveries.c.webhook_id == webhooks.c.id)
        .where(deliveries.c.state == WAITING, deliveries.c.next_at <= now_ms)
        .where(webhooks.c.disabled_at.is_(None), webhooks.c.resumes_at <= now_ms)
        .where(webhooks.c.id.not_in(list(busy)))
        .group_by(webhooks.c.id)
        .subquery()
    )
    query = (
        sa.select(webhooks)
        .join(due, due.c.id == webhooks.c.id)
        .where(due.c.place <= most_each)
        .order_by(due.c.since)
    )
    return [_webhook_from(row) for row in connection.execute(query)]


def list_deliveries_due(
    connection: Connection, webhook_id: str, now_ms: int, most: int
) -> list[Delivery]:
    query = _waiting(webhook_id).where(deliveries.c.next_at <= now_ms)
    query = query.order_by(deliveries.c.next_at, deliveries.c.seq).limit(most)
    return [Delivery(*row) for row in connection.execute(query)]


def list_followers(connection: Connection, most_waiting: int) -> list[Webhook]:
    """Webhooks that queue new changes: not disabled, and without too many pending deliveries."""
    full = (
        sa.select(deliveries.c.webhook_id)
        .where(deliveries.c.state == WAITING)
        .group_by(deliveries.c.webhook_id)
        .having(sa.func.count() >= most_waiting)
    )
    query = sa.select(webhooks).where(
        webhooks.c.disabled_at.is_(None), webhooks.c.id.not_in(full.scalar_subquery())
    )
    return [_webhook_from(row) for row in connection.execute(query)]


def advance(tx: Transaction, ids: Sequence[str], position: int) -> None:
    behind = (webhooks.c.id.in_(ids), webhooks.c.position < position)
    rows.update(tx, webhooks, {"position": position}, *behind)


def oldest_position(connection: Connection) -> int | None:
    """None if there is no active webhook."""
    query = sa.select(sa.func.min(webhooks.c.position)).where(webhooks.c.disabled_at.is_(None))
    found = connection.execute(query).scalar()
    return None if found is None else int(found)


def list_named_changes(connection: Connection, after: int, limit: int) -> list[NamedChange]:
    query = (
        sa.select(changes, widgets.c.name, widgets.c.is_listed)
        .join(widgets, widgets.c.id == changes.c.widget_id)
        .where(changes.c.seq > after)
        .order_by(changes.c.seq)
        .limit(limit)
    )
    return [NamedChange(StoredChange(*row[:-3]), *row[-3:]) for row in connection.execute(query)]


def list_outdated(connection: Connection, before: int, most_each: int, limit: int) -> list[str]:
    """Finished deliveries that need not be kept: too old, or not among the newest."""
    place = sa.func.row_number().over(
        partition_by=deliveries.c.webhook_id, order_by=deliveries.c.queued_at.desc()
    )
    over = (
        sa.select(deliveries.c.id, deliveries.c.queued_at, place.label("place"))
        .where(deliveries.c.state != WAITING)
        .subquery()
    )
    is_outdated = sa.or_(over.c.queued_at < before, over.c.place > most_each)
    query = sa.select(over.c.id).where(is_outdated).limit(limit)
    return list(connection.execute(query).scalars())


def remove_deliveries(tx: Transaction, ids: Sequence[str]) -> None:
    rows.delete(tx, deliveries, deliveries.c.id.in_(ids))


def _waiting(webhook_id: str) -> sa.Select[Any]:
    return sa.select(deliveries).where(
        deliveries.c.webhook_id == webhook_id, deliveries.c.state == WAITING
    )


def _webhook_from(row: Any) -> Webhook:
    return Webhook(**(row._asdict() | {"types": _decode(row.types)}))
