"""Settings of publishing: the quotas of an account."""

from dataclasses import dataclass

from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class PublishingSettings(FeatureSettings):
    max_new_widgets_per_day: int = setting(
        50,
        "New widgets that an account may publish within 24 hours; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    max_versions_per_hour: int = setting(
        100,
        "Versions that an account may publish within 60 minutes; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    max_bytes_per_day: int = setting(
        268435456,
        "Bytes (files and manifests) that an account may publish within 24 hours; `0`: no limit.",
        rule=between(0, 1 << 60),
    )
    max_changes_per_hour: int = setting(
        1000,
        "Changes to widgets that an account may make within 60 minutes: yank, deprecate, "
        "list, unlist, name publishers; and, counted separately, of other kinds; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    max_open_requests: int = setting(
        50,
        "Unconfirmed publish requests that an account may have; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
