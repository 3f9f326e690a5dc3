"""Reports from visitors about widgets, and the operator's decisions."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import BigInteger, Column, Index, Table, Text
from sqlalchemy.engine import Connection

from ..core.db import rows
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
    rows.insert(tx, reports, report._asdict())


def find_report(connection: Connection, id_: str) -> Report | None:
    if not id_.isalnum():  # External input, which a database may reject.
        return None
    return rows.find(connection, Report, reports, id=id_)


def decide_report(tx: Transaction, id_: str, state: str, by: str, note: str | None) -> bool:
    """False if it was decided before."""
    decided = {"state": state, "decided_by": by, "decided_at": tx.at_ms, "note": note}
    return rows.update(tx, reports, decided, id=id_, state=OPEN)


def list_reports(
    connection: Connection, state: str | None, page: int, limit: int
) -> tuple[list[Report], int]:
    """A page of them, newest first, in one state or in any; and the total."""
    query = sa.select(reports).order_by(reports.c.created_at.desc(), reports.c.id)
    if state is not None:
        query = query.where(reports.c.state == state)
    found, total = rows.read_page(connection, query, page, limit)
    return [Report(*row) for row in found], total


def count_open_reports(connection: Connection, scope: str = "", name: str = "") -> int:
    """Of one widget, or of all."""
    of_one = (reports.c.scope == scope, reports.c.name == name) if scope else ()
    return rows.count(connection, reports.c.state == OPEN, *of_one)


def is_decided_before(instant: int) -> sa.ColumnElement[bool]:
    return (reports.c.state != OPEN) & (reports.c.decided_at < instant)
