"""Organizations: create, view; roles of members, leaving, transfer; and their events."""

from collections.abc import Iterator, Set
from contextlib import contextmanager
from typing import NamedTuple

from widget_contract.texts import name_error

from ..accounts import store as accounts
from ..accounts.events import AccountClosed
from ..accounts.permissions import as_now, require_person
from ..catalog.model.events import Event, ScopeEvent
from ..catalog.store.audit import AuditEntry, read_scope_audit
from ..catalog.store.events import append
from ..core.actors import RESERVED, Account, Actor, Anonymous, Right, Role, parse_username
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict, InvalidRequest, NotFound, TooOften
from . import store as organizations
from .permissions import require, rights_of
from .store import Invitation, Member, Membership, Organization, list_members, lock_organization


class OwnerDemoted(ScopeEvent, frozen=True):
    """An owner has another role now. Only for hooks: the log has the change of roles."""

    kind, action = "owner_demoted", None
    member: str


class OrganizationCreated(Event, frozen=True):
    kind, action = "organization_created", "create organization"


class OrganizationTransferred(Event, frozen=True):
    kind, action = "organization_transferred", "transfer organization"
    member: str


class MembersShown(Event, frozen=True):
    """The list of members became public."""

    kind, action = "members_shown", "make members public"


class MembersHidden(Event, frozen=True):
    kind, action = "members_hidden", "make members private"


class RoleChanged(Event, frozen=True):
    kind, action = "role_changed", "change role"
    member: str
    role: str


class MemberRemoved(ScopeEvent, frozen=True):
    kind, action = "member_removed", "remove member"
    member: str
    publisher_of: list[str] | None = None


class MemberLeft(ScopeEvent, frozen=True):
    kind, action = "member_left", "leave organization"
    member: str
    publisher_of: list[str] | None = None


class MemberInvited(Event, frozen=True):
    kind, action = "member_invited", "invite"
    who: str
    role: str


class InvitationAccepted(Event, frozen=True):
    kind, action = "invitation_accepted", "accept invitation"
    role: str


class InvitationDeclined(Event, frozen=True):
    kind, action = "invitation_declined", "decline invitation"
    role: str


MAX_NAME = 100
_DAY_S = 86_400
_RANKS = list(Role)  # Highest first.


class OrganizationView(NamedTuple):
    """An organization, as one of its members or an operator sees it."""

    organization: Organization
    role: Role | None
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
    if error := name_error(display_name, MAX_NAME):
        raise InvalidRequest(f"displayName: {error}")
    with store.publishing() as tx:
        accounts.lock_account(tx, account.id)
        as_now(tx.connection, actor)
        check_may_own(tx.connection, account, max_owned)
        accounts.take_scope(tx, name, "organization")
        organization = organizations.add_organization(tx, name, display_name.strip())
        organizations.put_member(tx, organization.id, account.id, Role.OWNER)
        append(tx, actor, OrganizationCreated(scope=name))
    return Membership(organization, Role.OWNER)


def check_may_own(connection: Snapshot, account: Account, max_owned: int) -> None:
    """TooOften if the account owns as many as allowed; 0, and operators: no limit."""
    if account.is_operator or not max_owned:
        return
    roles = [
        membership.role for membership in organizations.list_memberships(connection, account.id)
    ]
    owned = roles.count(Role.OWNER)
    if owned >= max_owned:
        sentence = (
            f"{account.username} owns {owned:,} organizations, and at most {max_owned:,} are "
            "allowed. Leave one that has another owner, or ask the operator of this catalog to "
            "raise the limit."
        )
        raise TooOften(sentence, wait_s=_DAY_S)


def list_own_organizations(store: Store, actor: Actor) -> list[Membership]:
    account = require_person(actor)
    with store.reading() as connection:
        return organizations.list_memberships(connection, account.id)


def view_organization(store: Store, actor: Actor, slug: str) -> OrganizationView:
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.VIEW, slug)
        organization = organizations.get_organization(connection, slug)
        role = organizations.standing_of(connection, actor.account, slug, None).role
        rights = rights_of(connection, actor, slug, None)
        invitations = []
        if Right.MANAGE_MEMBERS in rights:
            now_ms = store.now_ms()
            invitations = organizations.list_invitations_to(connection, organization.id, now_ms)
        members = list_members(connection, organization.id)
        return OrganizationView(organization, role, rights, members, invitations)


def read_organization_audit(
    store: Store, actor: Actor, slug: str, page: int, limit: int
) -> tuple[list[AuditEntry], int]:
    """Everything that happens in its scope: to its members, and to its widgets."""
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, slug)
        organizations.get_organization(connection, slug)
        return read_scope_audit(connection, actor, slug, None, page, limit)


def list_public_members(store: Store, scope: str) -> list[Member]:
    """The members shown on the page of a scope; none unless the owners have chosen so.

    Disabled accounts are left out.
    """
    with store.reading() as connection:
        organization = organizations.find_organization(connection, scope)
        if organization is None or not organization.are_members_public:
            return []
        members = list_members(connection, organization.id)
    shown = [member for member in members if not member.is_disabled]
    return sorted(shown, key=lambda member: (_RANKS.index(member.role), member.username))


@contextmanager
def changing(
    store: Store, actor: Actor, slug: str, right: Right, owner: str = ""
) -> Iterator[tuple[Transaction, Organization]]:
    """A transaction that locks the organization, for an actor with this permission. It also locks
    the account that may become its owner, because the number of organizations per owner is
    limited.
    """
    require_person(actor)
    with store.writing() as tx:
        account = accounts.find_account(tx.connection, owner)
        if account is not None:
            accounts.lock_account(tx, account.id)
        lock_organization(tx, slug)
        require(tx.connection, actor, right, slug)
        yield tx, organizations.get_organization(tx.connection, slug)


def show_members(store: Store, actor: Actor, slug: str, *, is_public: bool) -> None:
    """Make the list of members public, or visible only to members."""
    with changing(store, actor, slug, Right.OWN) as (tx, organization):
        if organization.are_members_public is not is_public:
            organizations.set_members_public(tx, organization, is_public)
            kind = MembersShown if is_public else MembersHidden
            append(tx, actor, kind(scope=slug))


def change_role(
    store: Store, actor: Actor, slug: str, username: str, role: Role, max_owned: int = 0
) -> None:
    """Only owners can add or remove owners, and an active owner must remain."""
    with changing(store, actor, slug, Right.MANAGE_MEMBERS, username) as (tx, organization):
        member = get_member(tx.connection, organization, username)
        if member.role is role:
            return
        if Role.OWNER in (member.role, role):
            require(tx.connection, actor, Right.OWN, slug)
        if member.role is Role.OWNER:
            _keep_an_owner(tx.connection, organization, member)
        if role is Role.OWNER:
            owner = accounts.get_account(tx.connection, member.username)
            check_may_own(tx.connection, owner, max_owned)
        organizations.put_member(tx, organization.id, member.account_id, role)
        if _RANKS.index(role) > _RANKS.index(member.role):
            accounts.remove_invitations_of_inviter(tx, member.account_id, organization.id)
        if member.role is Role.OWNER:
            append(tx, actor, OwnerDemoted(scope=slug, member=username))
        append(tx, actor, RoleChanged(scope=slug, member=username, role=role.value))


def end_membership(store: Store, actor: Actor, slug: str, username: str) -> None:
    """Remove a member, or leave. The last owner cannot leave."""
    is_leaving = username == require_person(actor).username
    right = Right.VIEW if is_leaving else Right.MANAGE_MEMBERS
    with changing(store, actor, slug, right) as (tx, organization):
        member = get_member(tx.connection, organization, username)
        if member.role is Role.OWNER:
            if not is_leaving:
                require(tx.connection, actor, Right.OWN, slug)
            _keep_an_owner(tx.connection, organization, member)
        kind = MemberLeft if is_leaving else MemberRemoved
        take_out(tx, actor, organization, member.account_id, username, kind)


def take_out(
    tx: Transaction,
    by: Actor | Anonymous,
    organization: Organization,
    account_id: int,
    username: str,
    kind: type[MemberLeft] | type[MemberRemoved],
) -> None:
    """End a membership, its publishing rights (recorded) and its open invitations."""
    lost = organizations.remove_member(tx, organization, account_id)
    accounts.remove_invitations_of_inviter(tx, account_id, organization.id)
    append(tx, by, kind(scope=organization.slug, member=username, publisher_of=lost or None))


def transfer_organization(
    store: Store, actor: Actor, slug: str, username: str, max_owned: int = 0
) -> None:
    """Make another member the owner, and become an admin."""
    account = require_person(actor)
    with changing(store, actor, slug, Right.OWN, username) as (tx, organization):
        member = get_member(tx.connection, organization, username)
        if member.account_id == account.id:
            raise InvalidRequest("username: you are an owner already. Name another account.")
        if member.is_disabled:
            raise Conflict(f"{username} cannot sign in at present. Choose another account.")
        if member.role is not Role.OWNER:
            owner = accounts.get_account(tx.connection, member.username)
            check_may_own(tx.connection, owner, max_owned)
        organizations.put_member(tx, organization.id, member.account_id, Role.OWNER)
        organizations.put_member(tx, organization.id, account.id, Role.ADMIN)
        accounts.remove_invitations_of_inviter(tx, account.id, organization.id)
        append(tx, actor, OwnerDemoted(scope=slug, member=str(account.username)))
        append(tx, actor, OrganizationTransferred(scope=slug, member=username))


def parse_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise InvalidRequest(f"role: must be one of {', '.join(Role)}.") from None


def get_member(connection: Snapshot, organization: Organization, username: str) -> Member:
    for member in list_members(connection, organization.id):
        if member.username == username:
            return member
    raise NotFound(f"{username[:80]!r} is not a member of {organization.slug}.")


def has_another_owner(connection: Snapshot, organization: Organization, account_id: int) -> bool:
    """Whether there is another active owner: a disabled account is not."""
    return any(
        member.role is Role.OWNER and not member.is_disabled and member.account_id != account_id
        for member in list_members(connection, organization.id)
    )


def _keep_an_owner(connection: Snapshot, organization: Organization, leaving: Member) -> None:
    if not has_another_owner(connection, organization, leaving.account_id):
        raise Conflict(
            f"{leaving.username} is the last owner of {organization.slug} who can sign in. Make "
            "another member an owner first."
        )


def leave_all(tx: Transaction, by: Actor | Anonymous, event: AccountClosed) -> None:
    """Raises Conflict if an organization would be left without an owner."""
    account = accounts.get_account(tx.connection, event.scope)
    for membership in organizations.list_memberships(tx.connection, account.id):
        lock_organization(tx, membership.organization.slug)
    for organization, role in organizations.list_memberships(tx.connection, account.id):
        is_owner = role is Role.OWNER
        if is_owner and not has_another_owner(tx.connection, organization, account.id):
            raise Conflict(
                f"You are the last owner of {organization.slug} who can sign in. Transfer it "
                "to somebody first."
            )
        take_out(tx, by, organization, account.id, str(event.scope), MemberLeft)
