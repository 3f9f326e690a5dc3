"""The collections of `serve --demo`."""

from ..core.db.transaction import Transaction
from . import store as stored
from .store import Collection

EXAMPLES = (
    Collection(
        "for-the-kitchen-wall",
        "For the kitchen wall",
        "What a family asks in the morning: the weather, the day, and who buys the milk. "
        "All of it is **readable from across the room**.",
        ("home/weather", "catalog/calendar", "home/todo", "home/notes", "home/photo-frame"),
        is_featured=True,
    ),
    Collection(
        "for-those-on-call",
        "For those on call",
        "Keep an eye on machines and time zones.",
        ("acme/host-status", "catalog/world-clock", "home/sensors", "acme/countdown"),
        is_featured=True,
    ),
)


def add_examples(tx: Transaction) -> None:
    """To a catalog that has none."""
    found = stored.list_all(tx.connection)
    for position, collection in enumerate(() if found else EXAMPLES, 1):
        stored.add_collection(tx, collection, position)
