"""Webhooks: changes are sent to URLs that owners of scopes name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.commands import PEOPLE, Command
from ..core.features import Closeable, Feature, WorkerContext
from .commands import webhooks
from .settings import WebhookSettings

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.routing import Route


def _routes() -> "Sequence[Route]":
    from .routes import ROUTES

    return ROUTES


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
    )
    about = "Attempts to deliver webhooks, by what became of them; and webhooks disabled."
    counts = Reading("webhook_deliveries", about, lambda: deliverer.counts, "outcome")
    worker.counters.append(counts)
    about = "Deliveries of webhooks that are not over."
    worker.gauges.append(Reading("webhook_deliveries_waiting", about, lambda: deliverer.waiting))
    return (deliverer,)


def _hooks() -> "Hooks":
    from .hooks import HOOKS

    return HOOKS


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
    tables=("widget_catalog.webhooks.tables",),
    settings=WebhookSettings,
    commands=(Command(webhooks, PEOPLE),),
    hooks=_hooks,
    routes=_routes,
    start=_start,
)
