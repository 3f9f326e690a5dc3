"""A catalog that sends webhooks, with a store whose clock can be moved."""

import ssl
from pathlib import Path

from support.service import NO_CERTIFICATES
from support.site_with_people import MovableClock
from support.values import a_version, a_widget
from widget_catalog.catalog.model.events import Published, Unlisted
from widget_catalog.catalog.store.widgets import add_widget, get_widget, replace_widget
from widget_catalog.core.actors import COMMAND_LINE, Actor
from widget_catalog.core.db.engine import Store
from widget_catalog.core.db.sqlite import sqlite_engine
from widget_catalog.core.keys import SecretBox
from widget_catalog.webhooks.managing import IssuedWebhook, create_webhook, show_webhook
from widget_catalog.webhooks.model import Delivery, Outcome, Webhook
from widget_catalog.webhooks.scheduling import DeliveryScheduler
from widget_catalog.webhooks.sending import NameLookups, send_all
from widget_catalog.webhooks.settings import WebhookSettings
from widget_catalog.webhooks.store import find_webhook
from widget_contract.names import Scope, WidgetName

SETTINGS = WebhookSettings(webhook_http=True, webhook_networks="127.0.0.0/8")


class Post:
    """A catalog with its scheduler."""

    def __init__(self, folder: Path) -> None:
        self.clock = MovableClock()
        self.store = Store(sqlite_engine(folder / "catalog.db"), folder / "lock", now=self.clock)
        self.box = SecretBox(folder / "key")
        self.settings = SETTINGS
        self.lookups = NameLookups()
        self.tls: ssl.SSLContext = NO_CERTIFICATES
        self.scheduler = self.another()

    def another(self) -> DeliveryScheduler:
        """Like another process."""
        return DeliveryScheduler(self.store, self.box.open, self.send)

    def send(
        self, webhook: Webhook, secrets: list[str], deliveries: list[Delivery]
    ) -> list[Outcome]:
        now_s = self.store.now_ms() // 1000
        networks = self.settings.networks
        return send_all(webhook, secrets, deliveries, networks, self.tls, self.lookups, now_s)

    def hook(
        self, url: str, scope: str | None = None, *types: str, by: Actor = COMMAND_LINE
    ) -> IssuedWebhook:
        return create_webhook(self.store, by, self.box, SETTINGS, url, scope=scope, types=types)

    def publish(self, *keys: str) -> None:
        with self.store.publishing() as tx:
            for key in keys:
                scope, _, name = key.partition("/")
                event = Published(
                    scope=scope, name=name, version="1.0.0", sha256_hash="ab" * 32, bundle_size=3
                )
                add_widget(tx, a_widget(key, a_version("1.0.0")), COMMAND_LINE, event)

    def unlist(self, key: str) -> None:
        scope, _, name = key.partition("/")
        with self.store.publishing() as tx:
            stored = get_widget(tx.connection, Scope(scope), WidgetName(name))
            hidden = a_widget(key, a_version("1.0.0"), is_listed=False)
            replace_widget(tx, stored, hidden, COMMAND_LINE, Unlisted(scope=scope, name=name))

    def work(self) -> None:
        """Run rounds until there is nothing to do at this time."""
        for _ in range(50):
            is_busy = self.scheduler.run_round()
            self.scheduler.wait(60)
            if not self.scheduler.run_round() and not is_busy:
                return
        raise AssertionError("It does not come to an end.")

    def deliveries(self, id_: str) -> list[Delivery]:
        return show_webhook(self.store, COMMAND_LINE, id_, 1, 1000)[1]

    def get(self, id_: str) -> Webhook:
        with self.store.reading() as connection:
            found = find_webhook(connection, id_)
        assert found is not None
        return found
