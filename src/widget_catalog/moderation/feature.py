"""Moderation: reports, revocations, reserved names and ownerless scopes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.commands import PEOPLE, Command
from ..core.features import Feature, Job, value_of
from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting
from .commands import scopes

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.services import Services


@dataclass(frozen=True, kw_only=True)
class ModerationSettings(FeatureSettings):
    max_reports: int = setting(
        5,
        "Reports of widgets accepted from one address (IPv6: one /64 network) in 15 minutes; "
        "`0`: reports are disabled.",
        rule=between(0, 1 << 31),
    )


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
    routes=value_of("widget_catalog.moderation.endpoints:ROUTES"),
    services=_services,
    jobs=_jobs,
)
