"""The tables of webhooks and their deliveries."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text

from ..core.db.schema import SEALED, Name, metadata

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
    Index("ix_webhook_deliveries_state_next_at", "state", "next_at"),
    Index("ix_webhook_deliveries_webhook_id_queued_at", "webhook_id", "queued_at"),
)
