"""Operations: doctor, the audit log, the operator's pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.commands import DATA, PEOPLE, Command
from ..core.features import Feature, Job, value_of
from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting
from .commands import audit, stats
from .doctor_command import doctor
from .migrate_command import migrate

if TYPE_CHECKING:
    from ..core.http.services import Services


@dataclass(frozen=True, kw_only=True)
class OperationsSettings(FeatureSettings):
    audit_keep_days: int = setting(
        0,
        "How long entries of the [audit log](administering.md#moderation) are kept, in days; "
        "`0`: forever.",
        rule=between(0, 36_600),
    )


def _jobs(services: "Services") -> Sequence[Job]:
    from .audit import prune_audit

    keep_days = services.settings.of(OperationsSettings).audit_keep_days
    return (partial(prune_audit, services.store, keep_days),)


FEATURE = Feature(
    name="operations",
    templates=Path(__file__).parent / "templates",
    links={
        "operate": (
            ("/operate", "Overview"),
            ("/operate/audit", "Audit log"),
            ("/operate/accounts", "Accounts"),
            ("/operate/invitations", "Invitations"),
            ("/operate/widgets", "Widgets"),
        )
    },
    purposes={
        "/operate/accounts": "change what an account can do",
        "/operate/invitations": "invite somebody",
    },
    settings=OperationsSettings,
    commands=(
        Command(stats, DATA),
        Command(doctor, DATA),
        Command(migrate, DATA, ("migrate --plan", "migrate --expand")),
        Command(audit, PEOPLE),
    ),
    routes=value_of("widget_catalog.operations.routes:ROUTES"),
    jobs=_jobs,
)
