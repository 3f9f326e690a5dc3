"""Organizations: create, view; roles of members, leaving, transfer."""

from collections.abc import Set
from typing import NamedTuple

from widget_contract.texts import name_fault

from ..accounts.permissions import as_now, require_person
from ..accounts.store import (
    find_account,
    get_account,
    lock_account,
    remove_invitations_of_inviter,
    take_scope,
)
from ..catalog.store.audit import Entry, read_scope_audit
from ..catalog.store.events import append
from ..core.actors import RESERVED, Account, Actor, Right, Role, Stranger, parse_username
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict, InvalidRequest, NotFound, TooOften
from .events import (
    MemberLeft,
    MemberRemoved,
    MembersHidden,
    MembersShown,
    OrganizationCreated,
    OrganizationTransferred,
    OwnerDemoted,
    RoleChanged,
)
from .permissions import require, rights_of
from .store import (
    Invitation,
    Member,
    Membership,
    Organization,
    add_organization,
    find_organization,
    get_organization,
    list_invitations_to,
    list_members,
    list_memberships,
    lock_organization,
    put_member,
    remove_member,
    set_members_public,
    standing_of,
)

MAX_NAME = 100
_DAY_S = 86_400


class ManagedOrganization(NamedTuple):
    """An organization with all data of its management page."""

    organization: Organization
    rights: frozenset[Right]
    members: list[Member]
    invitations: list[Invitation]
    """The open ones, for those who manage members."""


def create_organization(
    store: Store,
    actor: Actor,
    slug: str,
    display_name: str,
    max_owned: int = 0,
    *,
    reserved: Set[str] = RESERVED,
) -> Membership:
    """Its slug becomes a scope; its creator is its owner.

    It never takes over widgets: a scope that has some already is assigned, by an operator.
    """
    account = require_person(actor)
    name = parse_username(slug, reserved)
    if fault := name_fault(display_name, MAX_NAME):
        raise InvalidRequest(f"displayName: {fault}")
    with store.publishing() as tx:
        lock_account(tx, account.id)
        as_now(tx.connection, actor)
        check_may_own(tx.connection, account, max_owned)
        take_scope(tx, name, "organization")
        organization = add_organization(tx, name, display_name.strip())
        put_member(tx, organization.id, account.id, Role.OWNER)
        append(tx, actor, OrganizationCreated(scope=name))
    return Membership(organization, Role.OWNER)


def check_may_own(connection: Snapshot, account: Account, max_owned: int) -> None:
    """Raises TooOften if the account owns as many organizations as allowed. Operators may own any
    number; 0 is no limit.
    """
    if account.is_operator or not max_owned:
        return
    owned = [it for it in list_memberships(connection, account.id) if it.role is Role.OWNER]
    if len(owned) >= max_owned:
        sentence = (
            f"{account.username} owns {len(owned):,} organizations, and at most "
            f"{max_owned:,} are allowed. Leave one that has another owner, or ask the operator of "
            "this catalog to raise the limit."
        )
        raise TooOften(sentence, wait_s=_DAY_S)


def list_own_organizations(store: Store, actor: Actor) -> list[Membership]:
    account = require_person(actor)
    with store.reading() as connection:
        return list_memberships(connection, account.id)


def view_managed_organization(store: Store, actor: Actor, slug: str) -> ManagedOrganization:
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, slug)
        organization = get_organization(connection, slug)
        rights = rights_of(connection, actor, slug, None)
        is_managing = Right.MANAGE_MEMBERS in rights
        return ManagedOrganization(
            organization,
            rights,
            list_members(connection, organization.id),
            list_invitations_to(connection, organization.id, store.now_ms()) if is_managing else [],
        )


def show_organization(
    store: Store, actor: Actor, slug: str
) -> tuple[Organization, Role | None, list[Member]]:
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, slug)
        organization = get_organization(connection, slug)
        role = standing_of(connection, actor.account, slug, None).role
        return organization, role, list_members(connection, organization.id)


def read_organization_audit(
    store: Store, actor: Actor, slug: str, page: int, limit: int
) -> tuple[list[Entry], int]:
    """Everything that happens in its scope: to its members, and to its widgets."""
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, slug)
        get_organization(connection, slug)
        return read_scope_audit(connection, actor, slug, None, page, limit)


def list_public_members(store: Store, scope: str) -> list[Member]:
    """The members shown on the page of a scope; none unless the owners have chosen so.

    Disabled accounts are left out.
    """
    with store.reading() as connection:
        organization = find_organization(connection, scope)
        if organization is None or not organization.are_members_public:
            return []
        members = list_members(connection, organization.id)
    ranks = list(Role)
    shown = [it for it in members if not it.is_disabled]
    return sorted(shown, key=lambda it: (ranks.index(it.role), it.username))


def show_members(store: Store, actor: Actor, slug: str, *, is_public: bool) -> None:
    """Make the list of members public, or visible only to members."""
    require_person(actor)
    with store.writing() as tx:
        lock_organization(tx, slug)
        require(tx.connection, actor, Right.OWN, slug)
        organization = get_organization(tx.connection, slug)
        if organization.are_members_public is is_public:
            return
        set_members_public(tx, organization, is_public)
        kind = MembersShown if is_public else MembersHidden
        append(tx, actor, kind(scope=slug))


def change_role(
    store: Store, actor: Actor, slug: str, username: str, role: Role, max_owned: int = 0
) -> None:
    """Only owners can add or remove owners, and an active owner must remain."""
    require_person(actor)
    with store.writing() as tx:
        _lock(tx, slug, username)
        require(tx.connection, actor, Right.MANAGE_MEMBERS, slug)
        organization = get_organization(tx.connection, slug)
        member = get_member(tx.connection, organization, username)
        if member.role is role:
            return
        if Role.OWNER in (member.role, role):
            require(tx.connection, actor, Right.OWN, slug)
        if member.role is Role.OWNER:
            _keep_an_owner(tx.connection, organization, member)
        if role is Role.OWNER:
            check_may_own(tx.connection, get_account(tx.connection, member.username), max_owned)
        put_member(tx, organization.id, member.account_id, role)
        if _is_lower(role, member.role):
            remove_invitations_of_inviter(tx, member.account_id, organization.id)
        if member.role is Role.OWNER:
            append(tx, actor, OwnerDemoted(scope=slug, member=username))
        append(tx, actor, RoleChanged(scope=slug, member=username, role=role.value))


def end_membership(store: Store, actor: Actor, slug: str, username: str) -> None:
    """Remove a member, or leave. The last owner cannot leave."""
    account = require_person(actor)
    is_leaving = username == account.username
    with store.writing() as tx:
        lock_organization(tx, slug)
        require(tx.connection, actor, Right.VIEW if is_leaving else Right.MANAGE_MEMBERS, slug)
        organization = get_organization(tx.connection, slug)
        member = get_member(tx.connection, organization, username)
        if member.role is Role.OWNER:
            if not is_leaving:
                require(tx.connection, actor, Right.OWN, slug)
            _keep_an_owner(tx.connection, organization, member)
        kind = MemberLeft if is_leaving else MemberRemoved
        take_out(tx, actor, organization, member.account_id, username, kind)


def take_out(
    tx: Transaction,
    by: Actor | Stranger,
    organization: Organization,
    account_id: int,
    username: str,
    kind: type[MemberLeft] | type[MemberRemoved],
) -> None:
    """End a membership and what depends on it: publishing rights (recorded) and open
    invitations.
    """
    lost = remove_member(tx, organization, account_id)
    remove_invitations_of_inviter(tx, account_id, organization.id)
    append(tx, by, kind(scope=organization.slug, member=username, publisher_of=lost or None))


def transfer_organization(
    store: Store, actor: Actor, slug: str, username: str, max_owned: int = 0
) -> None:
    """Make another member the owner, and become an admin."""
    account = require_person(actor)
    with store.writing() as tx:
        _lock(tx, slug, username)
        require(tx.connection, actor, Right.OWN, slug)
        organization = get_organization(tx.connection, slug)
        member = get_member(tx.connection, organization, username)
        if member.account_id == account.id:
            raise InvalidRequest("username: you are an owner already. Name another account.")
        if member.is_disabled:
            raise Conflict(f"{username} cannot sign in at present. Choose another account.")
        if member.role is not Role.OWNER:
            check_may_own(tx.connection, get_account(tx.connection, member.username), max_owned)
        put_member(tx, organization.id, member.account_id, Role.OWNER)
        put_member(tx, organization.id, account.id, Role.ADMIN)
        remove_invitations_of_inviter(tx, account.id, organization.id)
        append(tx, actor, OwnerDemoted(scope=slug, member=str(account.username)))
        append(tx, actor, OrganizationTransferred(scope=slug, member=username))


def _lock(tx: Transaction, slug: str, username: str) -> None:
    """Lock an organization, and the account that may become its owner, because the number of
    organizations per owner is limited.
    """
    account = find_account(tx.connection, username)
    if account is not None:
        lock_account(tx, account.id)
    lock_organization(tx, slug)


def _is_lower(role: Role, than: Role) -> bool:
    ranks = list(Role)  # Highest first.
    return ranks.index(role) > ranks.index(than)


def parse_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        roles = ", ".join(role.value for role in Role)
        raise InvalidRequest(f"role: must be one of {roles}.") from None


def get_member(connection: Snapshot, organization: Organization, username: str) -> Member:
    members = list_members(connection, organization.id)
    found = next((it for it in members if it.username == username), None)
    if found is None:
        raise NotFound(f"{username[:80]!r} is not a member of {organization.slug}.")
    return found


def has_another_owner(connection: Snapshot, organization: Organization, account_id: int) -> bool:
    """Whether there is another active owner: a disabled account is not."""
    return any(
        it.role is Role.OWNER and not it.is_disabled and it.account_id != account_id
        for it in list_members(connection, organization.id)
    )


def _keep_an_owner(connection: Snapshot, organization: Organization, leaving: Member) -> None:
    if not has_another_owner(connection, organization, leaving.account_id):
        raise Conflict(
            f"{leaving.username} is the last owner of {organization.slug} who can sign in. Make "
            "another member an owner first."
        )
