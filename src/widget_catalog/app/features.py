"""The features of Widget Catalog.

A line less, and the service runs without that capability: its routes, pages, commands, settings
and tables are not there.
"""

from importlib import import_module

from ..core.features import Feature, install

# In the order of their commands in `--help`, links and hooks.
_ROOMS = (
    "transfer",
    "backup",
    "mirror",
    "static_site",
    "catalog",
    "pages",
    "operations",
    "accounts",
    "moderation",
    "collections",
    "brand",
    "publishing",
    "organizations",
    "webhooks",
    "telemetry",
    "install",
)

FEATURES: tuple[Feature, ...] = tuple(
    import_module(f"widget_catalog.{room}.feature").FEATURE for room in _ROOMS
)


def install_features() -> None:
    install(FEATURES)
