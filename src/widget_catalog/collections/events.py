"""Events of collections, which are in no scope."""

from ..catalog.events import Event


class CollectionEvent(Event, frozen=True):
    collection: str


class CollectionCreated(CollectionEvent, frozen=True):
    kind, action = "collection_created", "create collection"
    title: str


class CollectionChanged(CollectionEvent, frozen=True):
    """The fields are what has changed; of the widgets, those that came or went."""

    kind, action = "collection_changed", "change collection"
    title: str | None = None
    text: str | None = None
    featured: bool | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class CollectionMoved(CollectionEvent, frozen=True):
    kind, action = "collection_moved", "move collection"
    position: int


class CollectionDeleted(CollectionEvent, frozen=True):
    kind, action = "collection_deleted", "delete collection"
    title: str
