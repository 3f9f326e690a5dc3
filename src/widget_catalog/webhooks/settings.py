"""Settings of webhooks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ..core.networks import Network, parse_networks
from ..core.setting_rules import check_networks
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(FeatureSettings):
    removed: ClassVar[Mapping[str, str]] = {"max_webhooks": "a scope has at most 10 webhooks."}

    webhook_http: bool = setting(False, "Allow webhooks to `http` URLs, without TLS.")
    webhook_networks: str = setting(
        "",
        "Private networks that webhooks may reach, such as `10.1.0.0/16`, separated by spaces.",
        rule=check_networks,
    )

    @property
    def networks(self) -> tuple[Network, ...]:
        return parse_networks(self.webhook_networks)
