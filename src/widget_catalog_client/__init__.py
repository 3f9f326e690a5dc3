"""A client of Widget Catalog for servers: `Catalog`, and `AsyncCatalog` for asyncio.

Both share the protocol code, which does no I/O: `calls.py`, `flows.py`.
"""

from widget_contract.wire import Registry, SearchResults, Settings, VersionEntry, WidgetDetail
from widget_contract.wire_running import (
    Capability,
    Change,
    Changes,
    ConfigVersionChange,
    InstalledWidget,
    PublishedFile,
    Resolved,
    Revocations,
    VersionDetail,
)

from .async_catalog import AsyncCatalog
from .calls import (
    CatalogUnavailable,
    ClientError,
    FeedExpired,
    IntegrityError,
    InvalidRequest,
    NotFound,
    Revoked,
    UnexpectedAnswer,
)
from .catalog import Catalog

__all__ = [
    "AsyncCatalog",
    "Capability",
    "Catalog",
    "CatalogUnavailable",
    "Change",
    "Changes",
    "ClientError",
    "ConfigVersionChange",
    "FeedExpired",
    "InstalledWidget",
    "IntegrityError",
    "InvalidRequest",
    "NotFound",
    "PublishedFile",
    "Registry",
    "Resolved",
    "Revocations",
    "Revoked",
    "SearchResults",
    "Settings",
    "UnexpectedAnswer",
    "VersionDetail",
    "VersionEntry",
    "WidgetDetail",
]
