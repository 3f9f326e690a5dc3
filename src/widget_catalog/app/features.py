"""The features of Widget Catalog, in the order of their commands in `--help`, links and hooks.

A line less, and the service runs without that capability: its routes, pages, commands, settings
and tables are not there.
"""

from ..accounts.feature import FEATURE as ACCOUNTS
from ..backup.feature import FEATURE as BACKUP
from ..catalog.feature import FEATURE as CATALOG
from ..core.features import install
from ..mirror.feature import FEATURE as MIRROR
from ..moderation.feature import FEATURE as MODERATION
from ..operations.feature import FEATURE as OPERATIONS
from ..organizations.feature import FEATURE as ORGANIZATIONS
from ..publishing.feature import FEATURE as PUBLISHING
from ..snapshot.feature import FEATURE as SNAPSHOT
from ..static_site.feature import FEATURE as STATIC_SITE
from ..telemetry.feature import FEATURE as TELEMETRY
from ..transfer.feature import FEATURE as TRANSFER
from ..webhooks.feature import FEATURE as WEBHOOKS

FEATURES = (
    TRANSFER,
    BACKUP,
    MIRROR,
    SNAPSHOT,
    STATIC_SITE,
    CATALOG,
    OPERATIONS,
    ACCOUNTS,
    MODERATION,
    PUBLISHING,
    ORGANIZATIONS,
    WEBHOOKS,
    TELEMETRY,
)


def install_features() -> None:
    install(FEATURES)
