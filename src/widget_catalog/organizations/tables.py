"""The tables of organizations, their members, and publishers of widgets."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Table, Text, false

from ..core.db.schema import Name, Number, metadata

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
