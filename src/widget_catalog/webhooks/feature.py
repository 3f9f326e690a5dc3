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
    from .delivering import Deliverer

    services = worker.services
    return (
        Deliverer(
            services.store,
            worker.folder.webhook_lock,
            services.of(AccountServices).factor_policy.box.open,
            services.settings.of(WebhookSettings),
            worker.metrics,
            services.notifications,
        ),
    )


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
    tables=("widget_catalog.webhooks.tables",),
    settings=WebhookSettings,
    commands=(Command(webhooks, PEOPLE),),
    hooks=_hooks,
    routes=_routes,
    start=_start,
)
