"""Settings of mirrors."""

from dataclasses import dataclass

from ..core.setting_rules import check_networks
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class MirrorSettings(FeatureSettings):
    mirror_networks: str = setting(
        "",
        "Private networks that a [mirror](import-and-export.md#mirrors) may reach besides the "
        "host of its upstream, such as `10.1.0.0/16`, separated by spaces.",
        rule=check_networks,
    )
