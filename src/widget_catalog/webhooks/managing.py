"""Management of webhooks: by the owners of a scope, and by operators.

Webhooks that an actor may not see do not exist: the response is the same.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from widget_contract.names import Scope

from ..accounts.permissions import as_now, require_operator, require_operator_now, require_person
from ..accounts.store import lock_account
from ..catalog.store.events import append
from ..catalog.store.feed import latest_seq
from ..core.actors import Actor, Role
from ..core.clock import from_ms, iso
from ..core.credentials import new_id
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict, NotAllowed, NotFound
from ..core.keys import SecretBox
from ..organizations.permissions import require
from ..organizations.store import list_memberships, lock_organization
from ..publishing.quotas import NO_QUOTAS, Quotas, check_changes
from .model import (
    MAY_MANAGE,
    PING,
    Delivery,
    Webhook,
    WebhookAdded,
    WebhookDeliveryReplayed,
    WebhookDisabled,
    WebhookEnabled,
    WebhookEvent,
    WebhookPinged,
    WebhookRemoved,
    WebhookSecretRotated,
    new_webhook_secret,
    parse_types,
    parse_url,
    shown_webhook,
)
from .scheduling import new_delivery
from .settings import WebhookSettings
from .store import (
    WAITING,
    add_deliveries,
    add_webhook,
    change_delivery,
    change_webhook,
    count_webhooks,
    disable_webhook,
    find_delivery,
    find_waiting,
    find_webhook,
    is_scope,
    list_deliveries,
    list_webhooks,
    lock_scope,
    remove_webhook,
)

# Of a scope: each change is sent to all of them.
MAX_WEBHOOKS = 10
_NONE = "There is no such webhook."
_BY_PERSON = "Disabled by {name}."
_CHANGES = frozenset(it.kind for it in WebhookEvent.__subclasses__())


class IssuedWebhook(NamedTuple):
    """A webhook and its secret, which is shown once."""

    webhook: Webhook
    secret: str

    @property
    def shown(self) -> dict[str, Any]:
        return shown_webhook(self.webhook) | {"secret": self.secret}


def create_webhook(
    store: Store,
    actor: Actor,
    box: SecretBox,
    settings: WebhookSettings,
    url: str,
    *,
    scope: str | None = None,
    types: Sequence[str] = (),
    quotas: Quotas = NO_QUOTAS,
) -> IssuedWebhook:
    """It receives changes from now on."""
    _refuse_tokens(actor)
    place = None if scope is None else Scope.parse(scope)
    if place is None:
        require_operator(actor)
    address, wanted = parse_url(url, settings), parse_types(types)
    secret = new_webhook_secret()
    sealed = box.seal(secret)
    with store.writing() as tx:
        _lock(tx, actor, place)
        _require(tx.connection, actor, place)
        _check_quota(tx, actor, quotas)
        if place is not None:
            _check_room(tx, place)
        webhook = Webhook(
            id=new_id(),
            scope=place,
            url=address,
            types=wanted,
            sealed_secret=sealed,
            created_at=tx.at_ms,
            created_by=actor.name,
            position=latest_seq(tx.connection),
        )
        add_webhook(tx, webhook)
        append(tx, actor, WebhookAdded(scope=place, webhook=webhook.id, url=address))
    return IssuedWebhook(webhook, secret)


def list_managed_webhooks(store: Store, actor: Actor, scope: str | None = None) -> list[Webhook]:
    """Those of one scope, or all that the actor may manage."""
    _refuse_tokens(actor)
    with store.reading() as connection:
        if scope is not None:
            place = Scope.parse(scope)
            _require(connection, actor, place)
            return list_webhooks(connection, [place])
        return list_webhooks(connection, None if actor.is_operator else _owned(connection, actor))


def list_own_webhooks(store: Store, actor: Actor) -> list[Webhook]:
    """Those of the scopes that the person owns."""
    with store.reading() as connection:
        return list_webhooks(connection, _owned(connection, actor))


def list_all_webhooks(store: Store, actor: Actor) -> list[Webhook]:
    """For the operator."""
    with store.reading() as connection:
        require_operator_now(connection, actor)
        return list_webhooks(connection)


def list_owned_scopes(store: Store, actor: Actor) -> list[str]:
    """Where the person may add webhooks."""
    with store.reading() as connection:
        return _owned(connection, actor)


def show_webhook(
    store: Store, actor: Actor, id_: str, page: int = 1, limit: int = 20
) -> tuple[Webhook, list[Delivery], int]:
    """With a page of its deliveries, newest first, and their total."""
    with store.reading() as connection:
        webhook = _get(connection, actor, id_)
        return webhook, *list_deliveries(connection, id_, page, limit)


def delete_webhook(store: Store, actor: Actor, id_: str) -> Webhook:
    """It counts as a change, but is never refused: it must be possible to stop a webhook."""
    with store.writing() as tx:
        webhook = _get_locked(tx, actor, id_)
        remove_webhook(tx, id_)
        append(tx, actor, WebhookRemoved(scope=webhook.scope, webhook=id_, url=webhook.url))
    return webhook


def rotate_secret(
    store: Store, actor: Actor, box: SecretBox, id_: str, quotas: Quotas = NO_QUOTAS
) -> IssuedWebhook:
    """For a day, deliveries are signed with the old secret as well."""
    secret = new_webhook_secret()
    sealed = box.seal(secret)
    with store.writing() as tx:
        # Rotations are serialized; two concurrent ones would otherwise lose a secret that was
        # returned.
        webhook = _get_locked(tx, actor, id_)
        _check_quota(tx, actor, quotas)
        former = webhook.sealed_secret
        change_webhook(
            tx, id_, sealed_secret=sealed, former_sealed_secret=former, rotated_at=tx.at_ms
        )
        append(tx, actor, WebhookSecretRotated(scope=webhook.scope, webhook=id_))
    return IssuedWebhook(webhook, secret)


def set_enabled(
    store: Store, actor: Actor, id_: str, quotas: Quotas = NO_QUOTAS, *, is_enabled: bool
) -> None:
    """An enabled webhook receives changes from then on. Disabling is never refused, like deleting:
    it takes an enabled webhook, and enabling has a quota.
    """
    with store.writing() as tx:
        webhook = _get_locked(tx, actor, id_)
        if is_enabled == (webhook.disabled_at is None):
            raise Conflict(f"The webhook is {'enabled' if is_enabled else 'disabled'} already.")
        if is_enabled:
            _check_quota(tx, actor, quotas)
            healthy = {"failures": 0, "failing_since": None, "resumes_at": 0}
            enabled = {"disabled_at": None, "disabled_reason": None, **healthy}
            change_webhook(tx, id_, **enabled, position=latest_seq(tx.connection))
            append(tx, actor, WebhookEnabled(scope=webhook.scope, webhook=id_))
        else:
            reason = _BY_PERSON.format(name=actor.name)
            disable_webhook(tx, id_, reason)
            append(tx, actor, WebhookDisabled(scope=webhook.scope, webhook=id_, reason=reason))


def send_ping(store: Store, actor: Actor, id_: str, quotas: Quotas = NO_QUOTAS) -> Delivery:
    """Send a test event; one at a time, so that a loop cannot flood the log and the network."""
    with store.writing() as tx:
        webhook = _get_enabled(tx, actor, id_)
        waiting = find_waiting(tx.connection, id_, PING)
        if waiting is not None and waiting.attempts == 0:
            raise Conflict("A test event is about to be sent.")
        _check_quota(tx, actor, quotas)
        append(tx, actor, WebhookPinged(scope=webhook.scope, webhook=id_))
        if waiting is not None:
            return _send_again(tx, waiting)
        shown = {"webhook": id_, "scope": webhook.scope}
        body = {"type": PING, "timestamp": iso(from_ms(tx.at_ms)), "data": shown}
        text = msgspec.json.encode(body, enc_hook=str).decode()
        ping = new_delivery(f"msg_{id_}_{new_id()}", id_, None, PING, text, tx.at_ms)
        add_deliveries(tx, [ping])
        change_webhook(tx, id_, resumes_at=0)
        tx.wake_nodes()
    return ping


def replay_delivery(
    store: Store, actor: Actor, id_: str, delivery_id: str, quotas: Quotas = NO_QUOTAS
) -> Delivery:
    """Send it again, with the same id and body."""
    with store.writing() as tx:
        webhook = _get_enabled(tx, actor, id_)
        delivery = find_delivery(tx.connection, id_, delivery_id)
        if delivery is None:
            raise NotFound("There is no such delivery. Those that are over are kept for a week.")
        if delivery.state == WAITING and delivery.attempts == 0:
            raise Conflict("The delivery is about to be sent.")
        _check_quota(tx, actor, quotas)
        again = _send_again(tx, delivery)
        event = WebhookDeliveryReplayed(scope=webhook.scope, webhook=id_, delivery=delivery_id)
        append(tx, actor, event)
        return again


def _check_quota(tx: Transaction, actor: Actor, quotas: Quotas) -> None:
    sentence = "changes to webhooks can be made in an hour, including test events and redeliveries."
    check_changes(tx, actor, quotas, _CHANGES, sentence)


def _send_again(tx: Transaction, delivery: Delivery) -> Delivery:
    now = tx.at_ms
    again = delivery._replace(state=WAITING, queued_at=now, next_at=now, attempts=0)
    change_delivery(tx, delivery.id, **again._asdict())
    change_webhook(tx, delivery.webhook_id, resumes_at=0)
    tx.wake_nodes()
    return again


def _get_enabled(tx: Transaction, actor: Actor, id_: str) -> Webhook:
    webhook = _get_locked(tx, actor, id_)
    if webhook.disabled_at is not None:
        raise Conflict("The webhook is disabled. Enable it first.")
    return webhook


def _get_locked(tx: Transaction, actor: Actor, id_: str) -> Webhook:
    """As it is when nobody else changes it."""
    _lock(tx, actor, _get(tx.connection, actor, id_).scope)
    return _get(tx.connection, actor, id_)


def _get(connection: Snapshot, actor: Actor, id_: str) -> Webhook:
    _refuse_tokens(actor)
    webhook = find_webhook(connection, id_)
    if webhook is None:
        raise NotFound(_NONE)
    try:
        _require(connection, actor, webhook.scope)
    except NotAllowed:
        raise NotFound(_NONE) from None
    return webhook


def _require(connection: Snapshot, actor: Actor, scope: str | None) -> None:
    """Checks the actor's current role: a former owner manages nothing."""
    if scope is None:
        require_operator_now(connection, actor)
    else:
        require(connection, actor, MAY_MANAGE, scope)


def _lock(tx: Transaction, actor: Actor, scope: str | None) -> None:
    """Lock the account and the owners of the scope until the transaction ends. Otherwise a
    concurrent change of either would miss a webhook that is added or enabled here.
    """
    if actor.account is not None:
        lock_account(tx, actor.account.id)
        as_now(tx.connection, actor)
    if scope is not None:
        lock_organization(tx, scope)


def _refuse_tokens(actor: Actor) -> None:
    if actor.limits is not None:
        require_person(actor)


def _check_room(tx: Transaction, scope: str) -> None:
    if not is_scope(tx.connection, scope):
        raise NotFound(f"There is no scope {scope}.")
    lock_scope(tx, scope)
    if count_webhooks(tx.connection, scope) >= MAX_WEBHOOKS:
        raise Conflict(
            f"The scope {scope} has {MAX_WEBHOOKS} webhooks, which is the limit. Remove one."
        )


def _owned(connection: Snapshot, actor: Actor) -> list[str]:
    account = require_person(actor)
    owned = [it for it in list_memberships(connection, account.id) if it.role is Role.OWNER]
    return [str(account.username), *(it.organization.slug for it in owned)]
