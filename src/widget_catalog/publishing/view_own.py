"""What a person manages: their scopes, the widgets in them, and their permissions for each."""

from collections.abc import Sequence
from typing import NamedTuple

from widget_contract.names import Scope

from ..accounts.permissions import require_person
from ..catalog.model.widgets import Version, Widget, parse_key
from ..catalog.store.audit import AuditEntry, read_scope_audit
from ..catalog.store.downloads import get_counts, list_installs
from ..catalog.store.installs import CHART_DAYS, today_of
from ..catalog.store.revocations import are_bytes_revoked, list_same_bundle
from ..catalog.store.widgets import get_version, get_widget, list_widgets_page
from ..core.actors import Actor, Right, Role
from ..core.db.engine import Store
from ..organizations.permissions import require, rights_of
from ..organizations.store import (
    Member,
    find_organization,
    list_members,
    list_memberships,
    list_publishers,
)


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


def list_own_scopes(store: Store, actor: Actor) -> list[OwnScope]:
    """The personal scope, then the organizations."""
    account = require_person(actor)
    with store.reading() as connection:
        memberships = list_memberships(connection, account.id)
    own = OwnScope(str(account.username), str(account.username), Role.OWNER, False)
    return [own, *(OwnScope(it.slug, it.display_name, role, True) for it, role in memberships)]


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
            rights_of(connection, actor, scope, name),
            list_publishers(connection, scope, name),
            list_members(connection, organization.id) if organization is not None else None,
            today,
            list_installs(connection, stored.id, today - CHART_DAYS + 1),
        )


def read_widget_audit(
    store: Store, actor: Actor, key: str, page: int, limit: int
) -> tuple[list[AuditEntry], int]:
    scope, name = parse_key(key)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, scope, name)
        get_widget(connection, scope, name)
        return read_scope_audit(connection, actor, scope, name, page, limit)


def view_managed_version(store: Store, actor: Actor, key: str, number: str) -> ManagedVersion:
    care = view_managed_widget(store, actor, key)
    version = get_version(care.widget.versions, key, number)
    if Right.REVOKE not in care.rights:
        return ManagedVersion(care, version)
    with store.reading() as connection:
        return ManagedVersion(
            care,
            version,
            list_same_bundle(connection, care.widget, version),
            are_bytes_revoked(connection, version.sha256_hash),
        )
