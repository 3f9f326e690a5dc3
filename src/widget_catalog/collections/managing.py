"""What an operator does with collections, and what the audit log says about it. Every change is
public at once.
"""

import re
from collections.abc import Callable, Sequence

from widget_contract.names import is_name
from widget_contract.texts import fold, name_error, text_error

from ..accounts.permissions import require_operator_now
from ..catalog.model.events import Event
from ..catalog.store.events import append
from ..core.actors import Actor
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, InvalidRequest, NotFound
from . import store as stored
from .store import Collection

MAX_COLLECTIONS = 50
MAX_WIDGETS = 100
MAX_TITLE = 80
MAX_TEXT = 2_000
_MAX_SLUG = 64


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


def get_collection(connection: Snapshot, slug: str) -> Collection:
    found = stored.find_collection(connection, slug) if is_name(slug) else None
    if found is None:
        raise NotFound("There is no such collection.")
    return found


def create_collection(store: Store, actor: Actor, wanted: Collection) -> Collection:
    """Without a slug, it is made from the title. The new collection is the last."""
    wanted = _tidied(wanted)
    slug = wanted.slug or re.sub("[^a-z0-9]+", "-", fold(wanted.title))[:_MAX_SLUG].strip("-")
    wanted = wanted._replace(slug=slug)
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        _check(tx.connection, wanted, wanted.widgets)
        slugs = [it.slug for it in stored.list_all(tx.connection)]
        if slug in slugs:
            raise Conflict(f"There is a collection at /collections/{slug} already.")
        if len(slugs) >= MAX_COLLECTIONS:
            raise Conflict(f"There are {MAX_COLLECTIONS} collections, which is the most.")
        stored.add_collection(tx, wanted, len(slugs) + 1)
        stored.set_order(tx, [*slugs, slug])
        append(tx, actor, CollectionCreated(collection=slug, title=wanted.title))
    return wanted


def change_collection(
    store: Store, actor: Actor, slug: str, change: Callable[[Collection], Collection]
) -> Collection:
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        old = get_collection(tx.connection, slug)
        new = _tidied(change(old))
        added = [it for it in new.widgets if it not in old.widgets]
        _check(tx.connection, new, added)
        if new != old:
            stored.replace_collection(tx, new)
            event = CollectionChanged(
                collection=slug,
                title=new.title if new.title != old.title else None,
                text=new.text if new.text != old.text else None,
                featured=new.is_featured if new.is_featured != old.is_featured else None,
                added=tuple(added),
                removed=tuple(it for it in old.widgets if it not in new.widgets),
            )
            append(tx, actor, event)
    return new


def arrange_widgets(store: Store, actor: Actor, slug: str, widget: str, do: str) -> Collection:
    """`do`: `add` as the last one, `remove`, or one place `up` or `down`."""

    def arranged(collection: Collection) -> Collection:
        widgets = list(collection.widgets)
        if do == "add":
            widgets.append(widget)
        elif widget not in widgets:
            raise Conflict(f"{widget[:140]} is not in this collection any more.")
        elif do == "remove":
            widgets.remove(widget)
        else:
            place = widgets.index(widget) + (0 if do == "up" else 2)
            widgets = _moved(widgets, widget, place)
        return collection._replace(widgets=tuple(widgets))

    return change_collection(store, actor, slug, arranged)


def move_collection(store: Store, actor: Actor, slug: str, position: int) -> None:
    """To a position from 1 on; one that does not exist is the first or the last."""
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        get_collection(tx.connection, slug)
        old = [it.slug for it in stored.list_all(tx.connection)]
        new = _moved(old, slug, position)
        if new != old:
            stored.set_order(tx, new)
            place = new.index(slug) + 1
            append(tx, actor, CollectionMoved(collection=slug, position=place))


def delete_collection(store: Store, actor: Actor, slug: str) -> None:
    with store.publishing() as tx:
        require_operator_now(tx.connection, actor)
        found = get_collection(tx.connection, slug)
        stored.remove_collection(tx, slug)
        append(tx, actor, CollectionDeleted(collection=slug, title=found.title))


def _moved(items: Sequence[str], item: str, position: int) -> list[str]:
    """The items in an order with this one at a position, counted from 1."""
    others = [it for it in items if it != item]
    others.insert(min(max(position - 1, 0), len(others)), item)
    return others


def _tidied(collection: Collection) -> Collection:
    """Forms send CRLF line breaks, and people paste names with `@` or spaces."""
    widgets = tuple(key.strip().removeprefix("@") for key in collection.widgets)
    text = collection.text.replace("\r\n", "\n").strip()
    return collection._replace(
        title=collection.title.strip(), text=text, slug=collection.slug.strip(), widgets=widgets
    )


def _check(connection: Snapshot, collection: Collection, added: Sequence[str]) -> None:
    errors = {
        "title": name_error(collection.title, MAX_TITLE),
        "slug": None
        if is_name(collection.slug)
        else "use 1 to 64 lowercase letters, digits and hyphens, beginning with a letter or digit.",
        "text": text_error(collection.text, MAX_TEXT),
        "widgets": _widgets_error(connection, collection.widgets, added),
    }
    if found := [f"{field}: {error}" for field, error in errors.items() if error]:
        raise InvalidRequest(*found)


def _widgets_error(
    connection: Snapshot, widgets: Sequence[str], added: Sequence[str]
) -> str | None:
    """Those that are there already need not exist any more."""
    if len(widgets) > MAX_WIDGETS:
        return f"a collection has at most {MAX_WIDGETS} widgets."
    if len(set(widgets)) < len(widgets):
        return "a widget is in a collection only once."
    known = stored.find_listed(connection, added)
    for key in added:
        if key not in known:
            return f"there is no widget {key[:140] or '(empty)'}. Enter it as scope/name."
    return None
