"""What a person manages: their scopes, the widgets in them, and their permissions for each."""

from collections.abc import Sequence
from typing import NamedTuple

from widget_contract.names import Scope

from ..accounts.permissions import require_person
from ..catalog.installs import CHART_DAYS, today_of
from ..catalog.store.downloads import get_counts
from ..catalog.store.installs import list_installs
from ..catalog.store.revocations import are_bytes_revoked
from ..catalog.store.widgets import get_widget, list_widgets_page
from ..catalog.widgets import Version, Widget, parse_key
from ..core.actors import Actor, Right, Role, is_allowed
from ..core.db.engine import Snapshot, Store
from ..moderation.revoke_version import list_same_bundle
from ..organizations.invitation_store import Invitation, list_invitations_to
from ..organizations.permissions import require
from ..organizations.store import (
    Member,
    Organization,
    find_organization,
    get_organization,
    list_members,
    list_memberships,
    list_publishers,
    standing_of,
)
from .change_version import get_version


class OwnScope(NamedTuple):
    name: str
    display_name: str
    role: Role
    is_organization: bool


class OwnWidget(NamedTuple):
    widget: Widget
    downloads: int


class ManagedWidget(NamedTuple):
    """A widget with all data of its management page."""

    widget: Widget
    downloads: int
    rights: frozenset[Right]
    """What the person may do with it now; every action asks again."""
    publishers: list[str]
    members: list[Member] | None
    """None in a personal scope."""
    today: int
    installs: list[tuple[int, int]]
    """By day; days are numbers since 1970."""


class ManagedVersion(NamedTuple):
    """A version with all data of its management page."""

    managed: ManagedWidget
    version: Version
    same_bundle: Sequence[str] = ()
    """The other versions with its bundle that are not revoked, for those who can revoke them."""
    are_bytes_revoked: bool = False


class ManagedOrganization(NamedTuple):
    """An organization with all data of its management page."""

    organization: Organization
    rights: frozenset[Right]
    members: list[Member]
    invitations: list[Invitation]
    """The open ones, for those who manage members."""


def list_own_scopes(store: Store, actor: Actor) -> list[OwnScope]:
    """The personal scope, then the organizations."""
    account = require_person(actor)
    with store.reading() as connection:
        memberships = list_memberships(connection, account.id)
    own = OwnScope(str(account.username), str(account.username), Role.OWNER, False)
    return [
        own,
        *(OwnScope(it.slug, it.display_name, role, True) for it, role in memberships),
    ]


def list_own_widgets(
    store: Store, actor: Actor, scope: str | None, page: int, limit: int
) -> tuple[list[OwnWidget], int]:
    """Of one scope, or of all the person's scopes, listed or not; and the total."""
    if scope is None:
        scopes = [it.name for it in list_own_scopes(store, actor)]
    else:
        scopes = [Scope.parse(scope)]
    with store.reading() as connection:
        for name in scopes:
            require(connection, actor, Right.VIEW, name)
        found, total = list_widgets_page(connection, page, limit, scopes=scopes)
        counts = get_counts(connection, [it.id for it in found])
    return [OwnWidget(it.widget, counts.get(it.id, 0)) for it in found], total


def view_managed_widget(store: Store, actor: Actor, key: str) -> ManagedWidget:
    scope, name = parse_key(key)
    today = today_of(store)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, scope, name)
        stored = get_widget(connection, scope, name)
        organization = find_organization(connection, scope)
        return ManagedWidget(
            stored.widget,
            get_counts(connection, [stored.id]).get(stored.id, 0),
            _rights(connection, actor, scope, name),
            list_publishers(connection, scope, name),
            list_members(connection, organization.id) if organization is not None else None,
            today,
            list_installs(connection, stored.id, today - CHART_DAYS + 1),
        )


def view_managed_organization(store: Store, actor: Actor, slug: str) -> ManagedOrganization:
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, slug)
        organization = get_organization(connection, slug)
        rights = _rights(connection, actor, slug, None)
        is_managing = Right.MANAGE_MEMBERS in rights
        return ManagedOrganization(
            organization,
            rights,
            list_members(connection, organization.id),
            list_invitations_to(connection, organization.id, store.now_ms()) if is_managing else [],
        )


def view_managed_version(store: Store, actor: Actor, key: str, number: str) -> ManagedVersion:
    care = view_managed_widget(store, actor, key)
    version = get_version(care.widget.versions, key, number)
    if Right.REVOKE not in care.rights:
        return ManagedVersion(care, version)
    same_bundle = list_same_bundle(store, actor, key, number)
    with store.reading() as connection:
        return ManagedVersion(
            care, version, same_bundle, are_bytes_revoked(connection, version.sha256_hash)
        )


def _rights(connection: Snapshot, actor: Actor, scope: str, name: str | None) -> frozenset[Right]:
    standing = standing_of(connection, actor.account, scope, name)
    return frozenset(it for it in Right if is_allowed(actor, it, standing, scope, name))
