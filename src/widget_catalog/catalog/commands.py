"""`widget-catalog stats`."""

from ..core.load_settings import load_settings
from .node.context import ConfigOption, DataOption, require_catalog


def stats(data: DataOption = None, config: ConfigOption = None) -> None:
    """Print statistics of the catalog as JSON, like /api/stats."""
    import msgspec

    from ..core.clock import from_ms, iso
    from .node.opening import open_to_read
    from .store.widgets import count_listed

    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    # From the store only: nothing is opened for writing, or rebuilt.
    store = open_to_read(settings.data, settings.backends)
    with store.reading() as connection:
        totals = count_listed(connection)
    shown = {**totals._asdict(), "generatedAt": iso(from_ms(store.now_ms()))}
    print(msgspec.json.encode(shown).decode())  # noqa: T201
