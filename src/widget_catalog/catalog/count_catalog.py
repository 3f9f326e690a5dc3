"""Statistics from the store only: nothing is opened for writing, or rebuilt."""

import msgspec

from ..core.clock import from_ms, iso
from ..core.db.engine import Store
from .store.widgets import count_listed


def count_catalog(store: Store) -> str:
    """The same document as `/api/stats`."""
    with store.reading() as connection:
        totals = count_listed(connection)
    shown = {**totals._asdict(), "generatedAt": iso(from_ms(store.now_ms()))}
    return msgspec.json.encode(shown).decode()
