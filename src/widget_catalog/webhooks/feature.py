"""Webhooks: changes are sent to URLs that owners of scopes name."""

from collections.abc import Sequence
from pathlib import Path

from ..core.commands import PEOPLE, Command
from ..core.features import Closeable, Feature, WorkerContext, value_of
from .commands import webhooks
from .settings import WebhookSettings


def _start(worker: WorkerContext) -> Sequence[Closeable]:
    from ..accounts.services import AccountServices
    from ..core.http.metrics import Reading
    from .delivering import Deliverer

    services = worker.services
    deliverer = Deliverer(
        services.store,
        worker.folder.run / "webhooks.lock",
        services.of(AccountServices).factor_policy.box.open,
        services.settings.of(WebhookSettings),
        services.notifications,
    )
    about = "Attempts to deliver webhooks, by what became of them; and webhooks disabled."
    counts = Reading("webhook_deliveries", about, lambda: deliverer.counts, "outcome", True)
    about = "Deliveries of webhooks that are not over."
    waiting = Reading("webhook_deliveries_waiting", about, lambda: deliverer.waiting)
    worker.readings.extend((counts, waiting))
    return (deliverer,)


FEATURE = Feature(
    name="webhooks",
    templates=Path(__file__).parent / "templates",
    links={
        "account": (("/account/webhooks", "Webhooks"),),
        "operate": (("/operate/webhooks", "Webhooks"),),
    },
    texts={
        "operator_can": "manage webhooks",
        "on_dismissal": "Webhooks that only an operator can add are disabled.",
    },
    purposes={
        "/account/webhooks": "create a webhook or a new secret for it",
        "/operate/webhooks": "create a webhook",
    },
    tables=("widget_catalog.webhooks.store",),
    settings=WebhookSettings,
    commands=(Command(webhooks, PEOPLE),),
    hooks=value_of("widget_catalog.webhooks.hooks:HOOKS"),
    routes=value_of("widget_catalog.webhooks.endpoints:ROUTES"),
    start=_start,
)
