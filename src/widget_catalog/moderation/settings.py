"""The settings of moderation."""

from dataclasses import dataclass

from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class ModerationSettings(FeatureSettings):
    max_reports: int = setting(
        5,
        "Reports of widgets accepted from one address (IPv6: one /64 network) in 15 minutes; "
        "`0`: reports are disabled.",
        rule=between(0, 1 << 31),
    )
