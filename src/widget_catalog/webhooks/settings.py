"""Settings of webhooks."""

from dataclasses import dataclass

from ..core.networks import Network, parse_networks
from ..core.setting_rules import between, check_networks
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(FeatureSettings):
    max_webhooks: int = setting(
        10,
        "[Webhooks](administering.md#webhooks) that a scope may have; `0`: no limit. Changes to "
        "them are limited by `max_changes_per_hour`.",
        rule=between(0, 1 << 40),
    )
    webhook_http: bool = setting(False, "Allow webhooks to `http` URLs, without TLS.")
    webhook_networks: str = setting(
        "",
        "Private networks that webhooks may reach, such as `10.1.0.0/16`, separated by spaces.",
        rule=check_networks,
    )

    @property
    def networks(self) -> tuple[Network, ...]:
        return parse_networks(self.webhook_networks)
