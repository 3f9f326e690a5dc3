"""The catalog itself: widgets, search, the public API, the public pages."""

from ..core.commands.registering import DATA, Command
from ..core.features import Feature
from .commands import stats
from .settings import CatalogSettings

FEATURE = Feature(name="catalog", settings=CatalogSettings, commands=(Command(stats, DATA),))
