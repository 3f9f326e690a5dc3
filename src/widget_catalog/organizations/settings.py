"""The settings of organizations."""

from dataclasses import dataclass

from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class OrganizationSettings(FeatureSettings):
    max_organizations: int = setting(
        10,
        "Organizations that an account may own; `0`: no limit. See "
        "[quotas](administering.md#quotas).",
        rule=between(0, 1 << 40),
    )
