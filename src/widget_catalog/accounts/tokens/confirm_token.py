"""A program requests an access token; its user confirms it in a browser; the program gets it.

Otherwise a program signed in with OAuth could turn an hour of access into a year, and keep it
after it is signed out.
"""

import secrets

from ...catalog.store.events import append
from ...core.actors import Account, Limits, Visitor
from ...core.credentials import new_id, plain_code, shown_code
from ...core.db.engine import Snapshot, Store
from ...core.errors import NotAllowed, NotFound, NotSignedIn
from ..events import TokenConfirmed, TokenRefused, TokenRequested
from ..oauth.store import find_grant
from ..permissions import require_person
from ..sign_in import hold_session
from ..store import lock_account
from .issue_token import IssuedToken, add_new_token
from .request_store import (
    TokenRequest,
    add_token_request,
    decide_token_request,
    find_token_request,
    find_token_request_by_code,
    remove_token_request,
)

REQUEST_S = 600
_GONE = "There is no such request for a token, or it has expired."
# No vowels, so that codes never form words, and no letters that are easily confused.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


def request_token(
    store: Store, visitor: Visitor, *, name: str, limits: Limits, days: int
) -> TokenRequest:
    """Create a request. One per sign-in: the last."""
    account = require_person(visitor.actor)
    if visitor.grant_id is None:
        raise NotAllowed("Only a program that was signed in by OAuth asks for confirmation.")
    with store.writing() as tx:
        lock_account(tx, account.id)
        if find_grant(tx.connection, visitor.grant_id) is None:
            raise NotSignedIn("The program has just been signed out. Sign in again.")
        request = TokenRequest(
            id=new_id(),
            grant_id=visitor.grant_id,
            account_id=account.id,
            user_code="".join(secrets.choice(_LETTERS) for _ in range(8)),
            name=name,
            limits=limits,
            days=days,
            expires_at=tx.at_ms + REQUEST_S * 1000,
        )
        add_token_request(tx, request)
        append(tx, visitor.actor, TokenRequested(scope=account.username, token=name))
    return request


def view_token_request(store: Store, visitor: Visitor, code: str) -> tuple[TokenRequest, str]:
    """The request with this code for this person, and the client id of the program; or NotFound.

    A code finds only a person's own requests, so guessing is useless.
    """
    account = require_person(visitor.actor)
    with store.reading() as connection:
        request = _find(connection, account, code, store.now_ms())
        grant = find_grant(connection, request.grant_id) if request is not None else None
    if request is None or grant is None:
        raise NotFound(
            f"No program waits for @{account.username} with this code. Check the code, and that "
            "you are signed in as the account that the program uses; or start again there."
        )
    return request, grant.client_id


def decide_token(store: Store, visitor: Visitor, code: str, *, is_agreed: bool) -> TokenRequest:
    """The person confirms or refuses, with a session: a program cannot do that for them."""
    account = require_person(visitor.actor)
    if visitor.session is None:
        raise NotAllowed("Confirm this in a browser, where you are signed in.")
    with store.writing() as tx:
        hold_session(tx, visitor)
        request = _find(tx.connection, account, code, tx.at_ms)
        if request is None or not decide_token_request(tx, request.id, is_agreed=is_agreed):
            raise NotFound("This request has just been answered, or has expired.")
        kind = TokenConfirmed if is_agreed else TokenRefused
        append(tx, visitor.actor, kind(scope=account.username, token=request.name))
    return request


def claim_token(store: Store, visitor: Visitor, id_: str) -> IssuedToken | None:
    """The token, once the person has confirmed; None until they have decided.

    Raises NotAllowed if they refused. Only the sign-in that requested it gets a response.
    """
    account = require_person(visitor.actor)
    with store.writing() as tx:
        # Serializes requests of the account, because the number of its tokens is limited.
        lock_account(tx, account.id)
        request = find_token_request(tx.connection, id_, tx.at_ms)
        if request is None or request.grant_id != visitor.grant_id:
            raise NotFound(_GONE)
        if request.is_agreed is None:
            return None
        if not remove_token_request(tx, id_):
            raise NotFound(_GONE)
        if request.is_agreed:
            return add_new_token(
                tx,
                visitor.actor,
                account,
                name=request.name,
                limits=request.limits,
                days=request.days,
                grant_id=request.grant_id,
            )
    raise NotAllowed("The token was refused in the browser.")


def code_of(request: TokenRequest) -> str:
    return shown_code(request.user_code)


def _find(connection: Snapshot, account: Account, code: str, now_ms: int) -> TokenRequest | None:
    return find_token_request_by_code(connection, account.id, plain_code(code), now_ms)
