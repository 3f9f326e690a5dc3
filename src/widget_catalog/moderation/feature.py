"""Moderation: reports, revocations, reserved names and ownerless scopes."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.commands import PEOPLE, Command
from ..core.features import Feature, Job, value_of
from .commands import scopes
from .settings import ModerationSettings

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.services import Services


def _services(services: "Services") -> Sequence[object]:
    if services.settings.of(ModerationSettings).max_reports > 0:
        services.renderer.take_reports()
    return ()


def _jobs(services: "Services") -> Sequence[Job]:
    from .report_widget import forget_reports

    return (partial(forget_reports, services.store),)


def _hooks() -> "Hooks":
    from ..catalog.store import events as catalog_events
    from . import report_widget  # noqa: F401 - so that the audit log can name its events.
    from .store import count_open_reports

    return {catalog_events.count_open_reports: count_open_reports}


FEATURE = Feature(
    name="moderation",
    templates=Path(__file__).parent / "templates",
    links={"operate": (("/operate/scopes", "Scopes"), ("/operate/reports", "Reports"))},
    texts={"operator_can": "revoke versions"},
    purposes={"/operate/scopes": "assign a scope"},
    tables=("widget_catalog.moderation.store",),
    settings=ModerationSettings,
    commands=(Command(scopes, PEOPLE),),
    hooks=_hooks,
    routes=value_of("widget_catalog.moderation.routes:ROUTES"),
    services=_services,
    jobs=_jobs,
)
