"""Organizations: tables, members, publishers, invitations; the role of an account in a scope."""

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Table, Text, false
from sqlalchemy.engine import Connection

from widget_contract.names import Scope, is_name

from ..accounts.permissions import PublishingScope
from ..accounts.tables import accounts, invitations
from ..catalog.store.tables import scopes
from ..core.actors import Account, Role, Standing
from ..core.db import rows
from ..core.db.engine import Transaction
from ..core.db.schema import Name, Number, metadata
from ..core.errors import NotFound

organizations = Table(
    "organizations",
    metadata,
    Column("id", Number, primary_key=True),
    Column("slug", Name, ForeignKey("scopes.name"), nullable=False, unique=True),
    Column("display_name", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("are_members_public", Boolean, nullable=False, server_default=false()),
)

memberships = Table(
    "memberships",
    metadata,
    Column("organization_id", Number, ForeignKey("organizations.id"), primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), primary_key=True, index=True),
    Column("role", Text, nullable=False),
    Column("since", BigInteger, nullable=False),
)

# Members of an organization who may publish a widget, in addition to its admins.
publishers = Table(
    "publishers",
    metadata,
    Column("scope", Name, primary_key=True),
    Column("name", Name, primary_key=True),
    Column("account_id", Number, ForeignKey("accounts.id"), primary_key=True, index=True),
)


_PUBLISHING = (Role.OWNER.value, Role.ADMIN.value)


class Organization(NamedTuple):
    id: int
    slug: str
    display_name: str
    created_at: int
    are_members_public: bool
    """Whether the page of its scope shows them to everybody."""


class Membership(NamedTuple):
    """An organization, and an account's role in it."""

    organization: Organization
    role: Role


class Member(NamedTuple):
    account_id: int
    username: str
    role: Role
    since: int
    is_disabled: bool


def add_organization(tx: Transaction, slug: Scope, display_name: str) -> Organization:
    """Add an organization whose slug is already taken for it."""
    values = {"slug": slug, "display_name": display_name, "created_at": tx.at_ms}
    rows.insert(tx, organizations, values)
    return get_organization(tx.connection, slug)


def remove_organization(tx: Transaction, organization: Organization) -> None:
    """With its memberships, publishers and invitations. Its name stays taken."""
    rows.delete(tx, memberships, organization_id=organization.id)
    rows.delete(tx, invitations, organization_id=organization.id)
    rows.delete(tx, publishers, scope=organization.slug)
    rows.delete(tx, organizations, id=organization.id)


def find_organization(connection: Connection, slug: str) -> Organization | None:
    if not is_name(slug):
        return None
    return rows.find(connection, Organization, organizations, slug=slug)


def get_organization(connection: Connection, slug: str) -> Organization:
    found = find_organization(connection, slug)
    if found is None:
        raise NotFound(f"There is no organization {slug[:80]!r}.")
    return found


def lock_organization(tx: Transaction, slug: str) -> None:
    """Lock its membership until this transaction ends, if it exists."""
    if is_name(slug):
        query = sa.select(organizations.c.id).where(organizations.c.slug == slug)
        tx.connection.execute(query.with_for_update(key_share=True))


def set_members_public(tx: Transaction, organization: Organization, is_public: bool) -> None:
    rows.update(tx, organizations, {"are_members_public": is_public}, id=organization.id)


def list_memberships(connection: Connection, account_id: int) -> list[Membership]:
    query = (
        sa.select(organizations, memberships.c.role)
        .join(memberships)
        .where(memberships.c.account_id == account_id)
        .order_by(organizations.c.slug)
    )
    found = connection.execute(query)
    return [Membership(Organization(*columns), Role(role)) for *columns, role in found]


def list_organization_names(connection: Connection, account_id: int) -> list[str]:
    return [organization.slug for organization, _ in list_memberships(connection, account_id)]


def owns_organization(connection: Connection, account_id: int) -> bool:
    """Whether this account is an owner of any organization."""
    is_owner = memberships.c.role == Role.OWNER.value
    return rows.exists(connection, memberships.c.account_id == account_id, is_owner)


def list_members(connection: Connection, organization_id: int) -> list[Member]:
    columns = (memberships.c.role, memberships.c.since, accounts.c.is_disabled)
    query = (
        sa.select(accounts.c.id, accounts.c.username, *columns)
        .join_from(memberships, accounts)
        .where(memberships.c.organization_id == organization_id)
        .order_by(accounts.c.username)
    )
    found = connection.execute(query)
    return [Member(id_, name, Role(role), *rest) for id_, name, role, *rest in found]


def put_member(tx: Transaction, organization_id: int, account_id: int, role: Role) -> None:
    """Add a member, or change a member's role."""
    here = {"organization_id": organization_id, "account_id": account_id}
    if not rows.update(tx, memberships, {"role": role.value}, **here):
        rows.insert(tx, memberships, {**here, "role": role.value, "since": tx.at_ms})


def remove_member(tx: Transaction, organization: Organization, account_id: int) -> list[str]:
    """End a membership, and its publishing rights; returns the names of those widgets."""
    named = sa.and_(publishers.c.scope == organization.slug, publishers.c.account_id == account_id)
    names = sa.select(publishers.c.name).where(named).order_by(publishers.c.name)
    lost = list(tx.connection.execute(names).scalars())
    rows.delete(tx, memberships, organization_id=organization.id, account_id=account_id)
    rows.delete(tx, publishers, named)
    return lost


def standing_of(
    connection: Connection, account: Account | None, scope: str, name: str | None
) -> Standing:
    """The role of an account in a scope, and whether it is a publisher of the widget."""
    if account is None or not is_name(scope):
        return Standing()
    if account.username == scope:
        return Standing(Role.OWNER)
    role = connection.execute(
        sa.select(memberships.c.role)
        .join(organizations)
        .where(organizations.c.slug == scope, memberships.c.account_id == account.id)
    ).scalar()
    if role is None:
        return Standing()
    is_named = (publishers.c.scope == scope) & (publishers.c.name == name)
    is_publisher = rows.exists(connection, is_named, publishers.c.account_id == account.id)
    return Standing(Role(role), is_publisher)


def list_scopes_of(connection: Connection, account: Account) -> list[PublishingScope]:
    """The personal scope, then the organizations in which this account may publish something."""
    named = sa.select(publishers.c.scope).where(publishers.c.account_id == account.id)
    query = (
        sa.select(organizations.c.slug, organizations.c.display_name)
        .join(memberships)
        .where(
            memberships.c.account_id == account.id,
            memberships.c.role.in_(_PUBLISHING) | organizations.c.slug.in_(named),
        )
        .order_by(organizations.c.slug)
    )
    own = PublishingScope(account.username, "personal", account.username)
    found = connection.execute(query)
    return [own, *(PublishingScope(slug, "organization", title) for slug, title in found)]


def list_publishers(connection: Connection, scope: str, name: str) -> list[str]:
    query = (
        sa.select(accounts.c.username)
        .join_from(publishers, accounts)
        .where(publishers.c.scope == scope, publishers.c.name == name)
        .order_by(accounts.c.username)
    )
    return list(connection.execute(query).scalars())


def set_publishers(tx: Transaction, scope: str, name: str, account_ids: Sequence[int]) -> None:
    rows.delete(tx, publishers, scope=scope, name=name)
    for account_id in account_ids:
        rows.insert(tx, publishers, {"scope": scope, "name": name, "account_id": account_id})


def scope_kind(connection: Connection, name: str) -> str | None:
    """What a name is used for: personal, organization, reserved; None if it is free."""
    return connection.execute(sa.select(scopes.c.kind).where(scopes.c.name == name)).scalar()


class Invitation(NamedTuple):
    """`username` None: for anyone with the link."""

    id: str
    organization: str
    organization_id: int
    account_id: int | None
    username: str | None
    email: str | None
    secret_hash: str | None
    role: str
    invited_by: str
    expires_at: int
    inviter_id: int | None
    organization_name: str
    """What people call the organization."""


_COLUMNS = {
    **dict(invitations.c.items()),
    "organization": organizations.c.slug,
    "username": accounts.c.username,
    "organization_name": organizations.c.display_name,
}
_INVITATIONS = (
    sa.select(*(_COLUMNS[name] for name in Invitation._fields))
    .select_from(invitations.join(organizations))
    .outerjoin(accounts, accounts.c.id == invitations.c.account_id)
    .order_by(invitations.c.created_at, invitations.c.id)
)


def find_invitation(connection: Connection, id_: str, now_ms: int) -> Invitation | None:
    if not id_.isprintable():  # External input, which a database may reject.
        return None
    return next(iter(_all(connection, invitations.c.id == id_, now_ms)), None)


def list_invitations_to(
    connection: Connection, organization_id: int, now_ms: int
) -> list[Invitation]:
    return _all(connection, invitations.c.organization_id == organization_id, now_ms)


def list_invitations_of(connection: Connection, account_id: int, now_ms: int) -> list[Invitation]:
    return _all(connection, invitations.c.account_id == account_id, now_ms)


def _all(connection: Connection, which: sa.ColumnElement[bool], now_ms: int) -> list[Invitation]:
    query = _INVITATIONS.where(which, invitations.c.expires_at > now_ms)
    return [Invitation._make(row) for row in connection.execute(query)]
