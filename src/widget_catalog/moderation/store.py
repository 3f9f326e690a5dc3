"""Reports from visitors about widgets, and the operator's decisions."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Index, Table, Text
from sqlalchemy.engine import Connection

from ..core.db.schema import Name, metadata
from ..core.db.transaction import Transaction

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


OPEN = "open"


class Report(NamedTuple):
    """`state` is `open`, `resolved` or `dismissed`; the last three are about that decision."""

    id: str
    scope: str
    name: str
    version: str | None
    category: str
    text: str
    contact: str | None
    created_at: int
    state: str = OPEN
    decided_by: str | None = None
    decided_at: int | None = None
    note: str | None = None


def add_report(tx: Transaction, report: Report) -> None:
    tx.connection.execute(sa.insert(reports).values(report._asdict()))


def find_report(connection: Connection, id_: str) -> Report | None:
    if not id_.isalnum():  # External input, which a database may reject.
        return None
    row = connection.execute(sa.select(reports).where(reports.c.id == id_)).first()
    return Report(*row) if row is not None else None


def decide_report(tx: Transaction, id_: str, state: str, by: str, note: str | None) -> bool:
    """False if it was decided before."""
    decided = {"state": state, "decided_by": by, "decided_at": tx.at_ms, "note": note}
    is_open = (reports.c.id == id_) & (reports.c.state == OPEN)
    return tx.connection.execute(sa.update(reports).where(is_open).values(decided)).rowcount > 0


def has_decided_reports(connection: Connection, decided_before: int) -> bool:
    return (
        connection.execute(sa.select(reports.c.id).where(_is_old(decided_before))).first()
        is not None
    )


def remove_decided_reports(tx: Transaction, decided_before: int) -> None:
    tx.connection.execute(sa.delete(reports).where(_is_old(decided_before)))


def list_reports(
    connection: Connection, state: str | None, page: int, limit: int
) -> tuple[list[Report], int]:
    """A page of them, newest first, in one state or in any; and the total."""
    query, count = sa.select(reports), sa.select(sa.func.count()).select_from(reports)
    if state is not None:
        query, count = query.where(reports.c.state == state), count.where(reports.c.state == state)
    query = query.order_by(reports.c.created_at.desc(), reports.c.id)
    rows = connection.execute(query.limit(limit).offset((page - 1) * limit))
    return [Report(*row) for row in rows], connection.execute(count).scalar_one()


def count_open_reports(connection: Connection, scope: str = "", name: str = "") -> int:
    """Of one widget, or of all."""
    query = sa.select(sa.func.count()).select_from(reports).where(reports.c.state == OPEN)
    if scope:
        query = query.where(reports.c.scope == scope, reports.c.name == name)
    return int(connection.execute(query).scalar_one())


def _is_old(decided_before: int) -> sa.ColumnElement[bool]:
    return (reports.c.state != OPEN) & (reports.c.decided_at < decided_before)
