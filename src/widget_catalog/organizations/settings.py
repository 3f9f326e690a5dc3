"""Settings of organizations."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting

if TYPE_CHECKING:
    from ..core.http.services import Services


@dataclass(frozen=True, kw_only=True)
class OrganizationSettings(FeatureSettings):
    max_organizations: int = setting(
        10,
        "Organizations that an account may own; `0`: no limit. See "
        "[quotas](administering.md#quotas).",
        rule=between(0, 1 << 40),
    )


def max_owned(services: "Services") -> int:
    """How many organizations an account may own; 0 is no limit."""
    return services.settings.of(OrganizationSettings).max_organizations
