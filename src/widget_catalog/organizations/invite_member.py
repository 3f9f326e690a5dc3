"""Invitations to an organization: create, list, revoke, accept, decline."""

import hmac

from ..accounts import store as accounts
from ..accounts.events import InvitationWithdrawn
from ..accounts.permissions import as_now, require_person
from ..catalog.store.events import append
from ..core.actors import Account, Actor, Right, Role, Via, email_error, is_allowed
from ..core.credentials import INVITATION_PREFIX, hash_secret, new_id, new_secret
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, InvalidRequest, NotFound, TooOften
from . import store as organizations
from .organize import InvitationAccepted, InvitationDeclined, MemberInvited, changing, check_may_own
from .permissions import require
from .store import Invitation

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
    if email and (error := email_error(email)):
        raise InvalidRequest(f"email: {error}")
    secret, id_ = new_secret(INVITATION_PREFIX) if email else None, new_id()
    right = _right_to_invite(role)
    with changing(store, actor, slug, right) as (tx, organization):
        accounts.remove_expired_invitations(tx)
        invited = organizations.list_invitations_to(tx.connection, organization.id, tx.at_ms)
        if len(invited) >= MAX_OPEN:
            sentence = (
                f"{slug} has {MAX_OPEN} open invitations, which is the limit. Withdraw some, or "
                "wait until they are answered."
            )
            raise TooOften(sentence, wait_s=60)
        account = accounts.get_account(tx.connection, username) if username else None
        if account is not None:
            if account.is_disabled:  # This includes closed accounts, which can never accept.
                raise NotFound(f"There is no account {username[:80]!r}.")
            if _is_member(tx.connection, organization.id, account):
                raise Conflict(f"{username} is a member of {slug} already.")
            if any(invitation.account_id == account.id for invitation in invited):
                raise Conflict(f"{username} is invited to {slug} already.")
        accounts.add_invitation(
            tx,
            id_,
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
        invitation = organizations.find_invitation(tx.connection, id_, tx.at_ms)
    if invitation is None:
        raise NotFound("The invitation is gone.")
    return invitation, secret


def list_open_invitations(store: Store, actor: Actor, slug: str) -> list[Invitation]:
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.MANAGE_MEMBERS, slug)
        organization = organizations.get_organization(connection, slug)
        return organizations.list_invitations_to(connection, organization.id, store.now_ms())


def withdraw_invitation(store: Store, actor: Actor, slug: str, id_: str) -> None:
    require_person(actor)
    with store.writing() as tx:
        require(tx.connection, actor, Right.MANAGE_MEMBERS, slug)
        found = organizations.find_invitation(tx.connection, id_, tx.at_ms)
        if found is None or found.organization != slug or not accounts.remove_invitation(tx, id_):
            raise NotFound("There is no such invitation.")
        append(tx, actor, InvitationWithdrawn(scope=slug, who=found.username or found.email))


def preview_invitation(store: Store, id_: str, secret: str) -> Invitation | None:
    """An invitation by link, for a person who is not signed in yet."""
    with store.reading() as connection:
        found = organizations.find_invitation(connection, id_, store.now_ms())
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
        accounts.lock_account(tx, account.id)
        as_now(tx.connection, actor)
        invitation = _get(tx.connection, account, id_, secret, tx.at_ms)
        organizations.lock_organization(tx, invitation.organization)
        # Checked again: the inviter may have lost the right to invite, which removes the
        # invitation.
        _get(tx.connection, account, id_, secret, tx.at_ms)
        if not accounts.remove_invitation(tx, id_):
            raise NotFound(_NOT_VALID)
        if is_accepted:
            if _is_member(tx.connection, invitation.organization_id, account):
                raise Conflict(f"You are a member of {invitation.organization} already.")
            if invitation.role == Role.OWNER:
                check_may_own(tx.connection, account, max_owned)
            role = Role(invitation.role)
            organizations.put_member(tx, invitation.organization_id, account.id, role)
        kind = InvitationAccepted if is_accepted else InvitationDeclined
        append(tx, actor, kind(scope=invitation.organization, role=invitation.role))
    return invitation.organization


def _get(connection: Snapshot, account: Account, id_: str, secret: str, now_ms: int) -> Invitation:
    invitation = organizations.find_invitation(connection, id_, now_ms)
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
    inviter = accounts.find_account_by_id(connection, invitation.inviter_id)
    if inviter is None or inviter.is_disabled:
        return False
    right = _right_to_invite(Role(invitation.role))
    standing = organizations.standing_of(connection, inviter, invitation.organization, None)
    actor = Actor(via=Via.SESSION, account=inviter)
    return is_allowed(actor, right, standing, invitation.organization)


def _right_to_invite(role: Role) -> Right:
    """Only owners invite owners; every owner also manages members."""
    return Right.OWN if role is Role.OWNER else Right.MANAGE_MEMBERS


def _is_for(invitation: Invitation, account: Account, secret: str) -> bool:
    if invitation.account_id is not None:
        return invitation.account_id == account.id
    return hmac.compare_digest(invitation.secret_hash or "", hash_secret(secret))


def _is_member(connection: Snapshot, organization_id: int, account: Account) -> bool:
    members = organizations.list_members(connection, organization_id)
    return any(member.account_id == account.id for member in members)
