"""Scopes: those that have widgets, from an import or a mirror, but no owner; and public members."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.actors import Role
from ...core.db.engine import Store
from ...core.hooks import extension_point
from .downloads import downloads
from .tables import scopes, widgets


class OwnerlessScope(NamedTuple):
    name: str
    widgets: int
    """Unlisted ones included."""
    installs: int

    @property
    def summary(self) -> str:
        widgets_ = "1 widget" if self.widgets == 1 else f"{self.widgets:,} widgets"
        installs = "1 install" if self.installs == 1 else f"{self.installs:,} installs"
        return f"{widgets_} with {installs}"


# A reserved name with widgets has no owner either.
_JOINED = widgets.outerjoin(scopes, scopes.c.name == widgets.c.scope)
_IS_OWNERLESS = scopes.c.name.is_(None) | (scopes.c.kind == "reserved")
_OWNERLESS = (
    sa.select(widgets.c.scope, sa.func.count(), sa.func.coalesce(sa.func.sum(downloads.c.count), 0))
    .select_from(_JOINED.outerjoin(downloads, downloads.c.widget_id == widgets.c.id))
    .where(_IS_OWNERLESS)
    .group_by(widgets.c.scope)
    .order_by(widgets.c.scope)
)


def find_ownerless_scope(connection: Connection, name: str) -> OwnerlessScope | None:
    """None if the scope has an owner, or no widgets."""
    row = connection.execute(_OWNERLESS.where(widgets.c.scope == name)).first()
    return _scope_from(row) if row is not None else None


def list_ownerless_scopes(
    connection: Connection, page: int, limit: int
) -> tuple[list[OwnerlessScope], int]:
    """A page of them; and the total."""
    rows = connection.execute(_OWNERLESS.limit(limit).offset((page - 1) * limit))
    return [_scope_from(row) for row in rows], count_ownerless_scopes(connection)


def count_ownerless_scopes(connection: Connection) -> int:
    number = sa.func.count(widgets.c.scope.distinct())
    query = sa.select(number).select_from(_JOINED).where(_IS_OWNERLESS)
    return int(connection.execute(query).scalar_one())


def _scope_from(row: Any) -> OwnerlessScope:
    return OwnerlessScope(row[0], row[1], int(row[2]))  # PostgreSQL adds up to a decimal.


def find_owned_scopes(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """Which of these scopes have an owner, and their kind: personal, organization.

    In batches: SQLite allows at most 32,766 parameters per statement.
    """
    query = sa.select(scopes.c.name, scopes.c.kind).where(
        scopes.c.name.in_(names), scopes.c.kind.in_(["personal", "organization"])
    )
    return {row.name: row.kind for row in connection.execute(query)}


def all_owned_scopes(connection: Connection) -> set[str]:
    """Every scope of an account or organization."""
    is_owned = scopes.c.kind.in_(["personal", "organization"])
    return set(connection.execute(sa.select(scopes.c.name).where(is_owned)).scalars())


class PublicMember(Protocol):
    """A public member of an organization."""

    @property
    def username(self) -> str: ...

    @property
    def role(self) -> Role: ...


@extension_point
def find_public_members(_store: Store, _scope: str) -> Sequence[PublicMember]:
    """The members whom an organization shows to everybody: only its room knows them."""
    return ()
