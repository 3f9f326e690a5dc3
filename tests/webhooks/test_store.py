"""Webhooks in the store, on both databases: leadership, claims, and retention."""

from functools import partial
from pathlib import Path

import pytest

from accounts.stored_accounts import an_account, an_organization
from support.at_once import outcomes
from support.service import free_port, wait_for
from support.values import a_version, a_widget
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.catalog.model.events import Published
from widget_catalog.catalog.store.widgets import add_widget
from widget_catalog.core.actors import COMMAND_LINE, Actor, Via
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.leadership import Leadership
from widget_catalog.core.db.postgresql import postgresql_engine
from widget_catalog.core.errors import Conflict, DatabaseDown, NotAllowed
from widget_catalog.core.keys import SecretBox
from widget_catalog.organizations.organize import end_membership
from widget_catalog.webhooks.managing import (
    MAX_WEBHOOKS,
    IssuedWebhook,
    create_webhook,
    rotate_secret,
    show_webhook,
)
from widget_catalog.webhooks.model import Delivery, Outcome, Webhook
from widget_catalog.webhooks.scheduling import DeliveryScheduler, new_delivery
from widget_catalog.webhooks.settings import WebhookSettings
from widget_catalog.webhooks.store import (
    add_deliveries,
    claim_delivery,
    list_enabled_webhooks,
    list_outdated,
    remove_deliveries,
)

JOB = "testing"
URL = "https://hooks.example/"


def a_webhook(store: Store, folder: Path, scope: str | None = None) -> Webhook:
    box, settings = SecretBox(folder / "key"), WebhookSettings()
    return create_webhook(store, COMMAND_LINE, box, settings, URL, scope=scope).webhook


def test_of_two_one_leads_until_it_ends(store: Store, tmp_path: Path) -> None:
    is_shared = store.engine.dialect.name == "postgresql"
    # Nodes have a folder each; workers of a machine share one.
    files = [tmp_path / "one", tmp_path / ("two" if is_shared else "one")]
    first, second = (Leadership(it, store.engine, JOB) for it in files)
    assert first.is_held()
    assert not second.is_held()
    assert first.is_held()
    first.close()
    # It asks again after some seconds.
    wait_for(second.is_held, 30)
    second.close()


def test_without_a_database_nobody_leads_and_the_driver_is_not_quoted(tmp_path: Path) -> None:
    engine = postgresql_engine(f"postgresql://ann@127.0.0.1:{free_port()}/catalog")
    leadership = Leadership(tmp_path / "lock", engine, JOB)
    with pytest.raises(DatabaseDown) as raised:
        leadership.is_held()
    assert "Connection refused." in raised.value.reason
    assert "sqlalche" not in raised.value.reason
    leadership.close()
    engine.dispose()


def test_of_two_who_claim_a_delivery_one_sends_it(store: Store, tmp_path: Path) -> None:
    webhook = a_webhook(store, tmp_path)
    waiting = new_delivery("msg_1", webhook.id, 1, "published", "{}", store.now_ms())
    with store.writing() as tx:
        add_deliveries(tx, [waiting])
        add_deliveries(tx, [waiting._replace(body="another")])  # It is not changed.

    def claim() -> bool:
        with store.writing() as tx:
            return claim_delivery(tx, waiting, store.now_ms() + 1)

    assert outcomes([claim, claim]) in ([False, True], [True, False])
    _, (found,), _ = show_webhook(store, COMMAND_LINE, webhook.id)
    assert (found.body, found.attempts) == ("{}", 1)


def test_the_limit_of_a_scope_holds_for_those_who_come_at_once(
    store: Store, tmp_path: Path
) -> None:
    ann = Actor(via=Via.SESSION, account=an_account(store))
    box, settings = SecretBox(tmp_path / "key"), WebhookSettings()
    box.seal("")
    for _ in range(MAX_WEBHOOKS - 1):
        create_webhook(store, ann, box, settings, URL, scope="ann")

    def add() -> str:
        try:
            create_webhook(store, ann, box, settings, URL, scope="ann")
        except Conflict:
            return "full"
        return "added"

    assert sorted(map(str, outcomes([add] * 3))) == ["added", "full", "full"]


def test_no_webhook_of_a_former_owner_stays_enabled(store: Store, tmp_path: Path) -> None:
    """Whether they added it just before they were removed, or tried to just after."""
    ann, bob = (Actor(via=Via.SESSION, account=an_account(store, it)) for it in ("ann", "bob"))
    assert ann.account is not None
    assert bob.account is not None
    box, settings = SecretBox(tmp_path / "key"), WebhookSettings()
    box.seal("")
    for number in range(4):
        slug = f"acme-{number}"
        an_organization(store, slug, owner=ann.account, owner2=bob.account)
        add = partial(create_webhook, store, bob, box, settings, URL, scope=slug)

        done = outcomes([add, partial(end_membership, store, ann, slug, "bob"), add])

        assert done[1] is None, done
        with store.reading() as connection:
            assert list_enabled_webhooks(connection, slug) == [], done


def test_a_disabled_account_adds_no_webhook(store: Store, tmp_path: Path) -> None:
    """Not even with a request that was authenticated before."""
    ann = Actor(via=Via.SESSION, account=an_account(store))
    set_disabled(store, "ann", is_disabled=True)
    with pytest.raises(NotAllowed, match="disabled"):
        create_webhook(store, ann, SecretBox(tmp_path / "key"), WebhookSettings(), URL, scope="ann")


def test_of_two_secrets_made_at_once_both_are_good(store: Store, tmp_path: Path) -> None:
    """Each of two owners was shown one. For a day, events are also signed with the old one."""
    ann, bob = (Actor(via=Via.SESSION, account=an_account(store, it)) for it in ("ann", "bob"))
    assert ann.account is not None
    assert bob.account is not None
    an_organization(store, owner=ann.account, owner2=bob.account)
    box = SecretBox(tmp_path / "key")
    for _ in range(4):
        id_ = a_webhook(store, tmp_path, "acme").id

        done = outcomes([partial(rotate_secret, store, it, box, id_) for it in (ann, bob)])

        webhook, *_ = show_webhook(store, COMMAND_LINE, id_)
        kept = {box.open(webhook.sealed_secret), box.open(webhook.former_sealed_secret or "")}
        assert {it.secret for it in done if isinstance(it, IssuedWebhook)} == kept, done


def test_a_scheduler_queues_sends_and_prunes(store: Store, tmp_path: Path) -> None:
    webhook = a_webhook(store, tmp_path)
    sent: list[str] = []

    def send(_: Webhook, __: list[str], deliveries: list[Delivery]) -> list[Outcome]:
        sent.extend(it.id for it in deliveries)
        return [Outcome(it, 200) for it in deliveries]

    with store.publishing() as tx:
        for name in ("a", "b", "c"):
            event = Published(
                scope="acme", name=name, version="1.0.0", sha256_hash="ab" * 32, bundle_size=3
            )
            add_widget(tx, a_widget(f"acme/{name}", a_version("1.0.0")), COMMAND_LINE, event)
    scheduler = DeliveryScheduler(store, SecretBox(tmp_path / "key").open, send)
    scheduler.run_round()
    scheduler.wait(60)
    assert scheduler.run_round()
    assert not scheduler.run_round()

    assert sent == [f"msg_{webhook.id}_{seq}" for seq in (1, 2, 3)]
    assert scheduler.counts["delivered"] == 3
    _, found, total = show_webhook(store, COMMAND_LINE, webhook.id, 1, 2)
    assert ([it.seq for it in found], total) == ([3, 2], 3)
    with store.reading() as connection:
        outdated = list_outdated(connection, 0, 1, 10)
    assert len(outdated) == 2
    with store.writing() as tx:
        remove_deliveries(tx, outdated)
    assert show_webhook(store, COMMAND_LINE, webhook.id)[2] == 1
