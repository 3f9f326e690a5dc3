"""The table of reports."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from ..core.db.schema import Name, metadata

# Reports from visitors about widgets, and the operator's decisions.
reports = Table(
    "reports",
    metadata,
    Column("id", Text, primary_key=True),
    Column("scope", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("version", Text),
    Column("category", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("contact", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("decided_by", Text),
    Column("decided_at", BigInteger),
    Column("note", Text),
    Index("ix_reports_state_created_at", "state", "created_at"),
)
