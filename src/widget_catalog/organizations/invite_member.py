"""Invitations to an organization: create, list, revoke, accept, decline."""

import hmac

from ..accounts.events import InvitationWithdrawn
from ..accounts.permissions import as_now, require_person
from ..accounts.store import (
    add_invitation,
    find_account_by_id,
    get_account,
    lock_account,
    remove_expired_invitations,
    remove_invitation,
)
from ..catalog.store.events import append
from ..core.actors import Account, Actor, Right, Role, Via, email_fault, is_allowed
from ..core.credentials import INVITATION_PREFIX, hash_secret, new_id, new_secret
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict, InvalidRequest, NotFound, TooOften
from .events import InvitationAccepted, InvitationDeclined, MemberInvited
from .organize import check_may_own
from .permissions import require
from .store import (
    Invitation,
    Organization,
    find_invitation,
    get_organization,
    list_invitations_of,
    list_invitations_to,
    list_members,
    lock_organization,
    put_member,
    standing_of,
)

MAX_OPEN = 100
_LIFETIME_MS = 7 * 86_400_000
_NOT_VALID = (
    "There is no such invitation for you, or it is no longer valid: it was used or withdrawn, it "
    "has expired, or the person who made it may no longer invite. Ask an owner of the organization "
    "for a new one."
)


def invite_member(
    store: Store, actor: Actor, slug: str, role: Role, *, username: str = "", email: str = ""
) -> tuple[Invitation, str | None]:
    """An account by its name; or anyone with the link, whose secret is returned only once."""
    inviter = require_person(actor)
    if bool(username) == bool(email):
        raise InvalidRequest("Give a username or an email, one of the two.")
    if email and (fault := email_fault(email)):
        raise InvalidRequest(f"email: {fault}")
    secret = new_secret(INVITATION_PREFIX) if email else None
    with store.writing() as tx:
        lock_organization(tx, slug)
        require(tx.connection, actor, _right_to_invite(role), slug)
        organization = get_organization(tx.connection, slug)
        remove_expired_invitations(tx)
        _check_room(tx, organization)
        account = get_account(tx.connection, username) if username else None
        if account is not None:
            if account.is_disabled:  # This includes closed accounts, which can never accept.
                raise NotFound(f"There is no account {username[:80]!r}.")
            _refuse_double(tx.connection, organization.id, account, slug, tx.at_ms)
        id_ = new_id()
        add_invitation(
            tx,
            id_=id_,
            organization_id=organization.id,
            account_id=account.id if account else None,
            email=email or None,
            secret_hash=hash_secret(secret) if secret else None,
            role=role.value,
            invited_by=actor.name,
            inviter_id=inviter.id,
            expires_at=tx.at_ms + _LIFETIME_MS,
        )
        append(tx, actor, MemberInvited(scope=slug, who=username or email, role=role.value))
        invitation = find_invitation(tx.connection, id_, tx.at_ms)
    if invitation is None:
        raise NotFound("The invitation is gone.")
    return invitation, secret


def _check_room(tx: Transaction, organization: Organization) -> None:
    if len(list_invitations_to(tx.connection, organization.id, tx.at_ms)) >= MAX_OPEN:
        sentence = (
            f"{organization.slug} has {MAX_OPEN} open invitations, which is the limit. Withdraw "
            "some, or wait until they are answered."
        )
        raise TooOften(sentence, wait_s=60)


def list_open_invitations(store: Store, actor: Actor, slug: str) -> list[Invitation]:
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.MANAGE_MEMBERS, slug)
        organization = get_organization(connection, slug)
        return list_invitations_to(connection, organization.id, store.now_ms())


def list_own_invitations(store: Store, actor: Actor) -> list[Invitation]:
    account = require_person(actor)
    with store.reading() as connection:
        return list_invitations_of(connection, account.id, store.now_ms())


def withdraw_invitation(store: Store, actor: Actor, slug: str, id_: str) -> None:
    require_person(actor)
    with store.writing() as tx:
        require(tx.connection, actor, Right.MANAGE_MEMBERS, slug)
        invitation = find_invitation(tx.connection, id_, tx.at_ms)
        if invitation is None or invitation.organization != slug or not remove_invitation(tx, id_):
            raise NotFound("There is no such invitation.")
        who = invitation.username or invitation.email
        append(tx, actor, InvitationWithdrawn(scope=slug, who=who))


def preview_invitation(store: Store, id_: str, secret: str) -> Invitation | None:
    """An invitation by link, for a person who is not signed in yet."""
    with store.reading() as connection:
        found = find_invitation(connection, id_, store.now_ms())
        if found is None or found.secret_hash is None or not _may_still_invite(connection, found):
            return None
    return found if hmac.compare_digest(found.secret_hash, hash_secret(secret)) else None


def view_invitation(store: Store, actor: Actor, id_: str, secret: str) -> Invitation:
    """An invitation that this person may accept or decline, or NotFound."""
    account = require_person(actor)
    with store.reading() as connection:
        return _get(connection, account, id_, secret, store.now_ms())


def answer_invitation(
    store: Store, actor: Actor, id_: str, secret: str, max_owned: int = 0, *, is_accepted: bool
) -> str:
    """Accept or decline; returns the organization."""
    account = require_person(actor)
    with store.writing() as tx:
        lock_account(tx, account.id)
        as_now(tx.connection, actor)
        invitation = _get(tx.connection, account, id_, secret, tx.at_ms)
        lock_organization(tx, invitation.organization)
        # Checked again: the inviter may have lost the right to invite, which removes the
        # invitation.
        _get(tx.connection, account, id_, secret, tx.at_ms)
        if not remove_invitation(tx, id_):
            raise NotFound(_NOT_VALID)
        if is_accepted:
            members = list_members(tx.connection, invitation.organization_id)
            if any(it.account_id == account.id for it in members):
                raise Conflict(f"You are a member of {invitation.organization} already.")
            if invitation.role == Role.OWNER:
                check_may_own(tx.connection, account, max_owned)
            put_member(tx, invitation.organization_id, account.id, Role(invitation.role))
        kind = InvitationAccepted if is_accepted else InvitationDeclined
        append(tx, actor, kind(scope=invitation.organization, role=invitation.role))
    return invitation.organization


def _get(connection: Snapshot, account: Account, id_: str, secret: str, now_ms: int) -> Invitation:
    invitation = find_invitation(connection, id_, now_ms)
    if (
        invitation is None
        or not _is_for(invitation, account, secret)
        or not _may_still_invite(connection, invitation)
    ):
        raise NotFound(_NOT_VALID)
    return invitation


def _may_still_invite(connection: Snapshot, invitation: Invitation) -> bool:
    """Whether its sender could still send it: an invitation grants no more than its sender has."""
    if invitation.inviter_id is None:
        return False
    inviter = find_account_by_id(connection, invitation.inviter_id)
    if inviter is None or inviter.is_disabled:
        return False
    right = _right_to_invite(Role(invitation.role))
    standing = standing_of(connection, inviter, invitation.organization, None)
    actor = Actor(via=Via.SESSION, account=inviter)
    return is_allowed(actor, right, standing, invitation.organization)


def _right_to_invite(role: Role) -> Right:
    """Only owners invite owners; every owner also manages members."""
    return Right.OWN if role is Role.OWNER else Right.MANAGE_MEMBERS


def _is_for(invitation: Invitation, account: Account, secret: str) -> bool:
    if invitation.account_id is not None:
        return invitation.account_id == account.id
    return hmac.compare_digest(invitation.secret_hash or "", hash_secret(secret))


def _refuse_double(
    connection: Snapshot, organization_id: int, account: Account, slug: str, now_ms: int
) -> None:
    if any(it.account_id == account.id for it in list_members(connection, organization_id)):
        raise Conflict(f"{account.username} is a member of {slug} already.")
    invited = list_invitations_to(connection, organization_id, now_ms)
    if any(it.account_id == account.id for it in invited):
        raise Conflict(f"{account.username} is invited to {slug} already.")
