"""The settings of operations."""

from dataclasses import dataclass

from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class OperationsSettings(FeatureSettings):
    audit_keep_days: int = setting(
        0,
        "How long entries of the [audit log](administering.md#moderation) are kept, in days; "
        "`0`: forever.",
        rule=between(0, 36_600),
    )
