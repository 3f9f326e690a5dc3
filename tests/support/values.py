"""Domain values with all required fields; `fields` override."""

from datetime import UTC, datetime
from typing import Any

from widget_catalog.catalog.model.widgets import Version, Widget
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import SemVer
from widget_contract.wire import Size

PUBLISHED = datetime(2026, 1, 31, 9, 5, tzinfo=UTC)


def a_version(number: str = "1.0.0", **fields: Any) -> Version:
    given: dict[str, Any] = {
        "version": SemVer.parse(number),
        "bundle_url": None,
        "bundle_size": 10,
        "sha256_hash": "ab" * 32,
        "published_at": PUBLISHED,
        "min_size": Size(1, 2),
        "max_size": Size(3, 4),
        "sdk_version": "^1.0.0",
    }
    return Version(**(given | fields))


def a_widget(key: str = "acme/clock", *versions: Version, **fields: Any) -> Widget:
    scope, _, name = key.partition("/")
    given: dict[str, Any] = {
        "scope": Scope.parse(scope),
        "name": WidgetName.parse(name),
        "display_name": "Clock",
        "created_at": PUBLISHED,
    }
    return Widget(**(given | fields)).with_versions(list(versions))
