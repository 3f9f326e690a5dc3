"""Statistics from the store only: nothing is opened for writing, or rebuilt."""

import msgspec

from ..core.clock import from_ms, iso
from ..core.db.engine import Snapshot, Store
from ..core.hooks import extension_point
from .store.widgets import count_listed


def count_catalog(store: Store) -> str:
    """The same document as `/api/stats`."""
    with store.reading() as connection:
        totals = count_listed(connection)
    shown = {**totals._asdict(), "generatedAt": iso(from_ms(store.now_ms()))}
    return msgspec.json.encode(shown).decode()


@extension_point
def count_open_reports(_connection: Snapshot) -> int | None:
    """Reports from visitors that nobody has decided about; None without moderation."""
    return None
