"""`widget-catalog stats`."""

from ..core.load_settings import load_settings
from .node.context import ConfigOption, DataOption, require_catalog


def stats(data: DataOption = None, config: ConfigOption = None) -> None:
    """Print statistics of the catalog as JSON, like /api/stats."""
    from .count_catalog import count_catalog
    from .node.opening import open_to_read

    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    print(count_catalog(open_to_read(settings.data, settings.backends)))  # noqa: T201
