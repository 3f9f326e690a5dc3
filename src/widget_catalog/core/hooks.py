"""Hooks: functions of a room that run when something happens in a room below it.

They run in the transaction of the event, before it is recorded, in the order of the rooms. A hook
may change its own tables, append events, or raise an error to refuse what is about to happen.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from .actors import Actor, Stranger

if TYPE_CHECKING:
    from .db.engine import Transaction

Hook: TypeAlias = Callable[["Transaction", Actor | Stranger, Any], None]
"""The last argument is an event of the type that it is connected to."""
Hooks: TypeAlias = Mapping[type[Any], Hook]


class _Registry:
    def __init__(self) -> None:
        self._load: Callable[[], Iterable[Hooks]] | None = None
        self._by_event: dict[type[Any], list[Hook]] | None = None

    def install(self, load: Callable[[], Iterable[Hooks]]) -> None:
        self._load, self._by_event = load, None

    def by_event(self) -> Mapping[type[Any], list[Hook]]:
        if self._by_event is None:
            if self._load is None:
                # Otherwise changes would silently lack their consequences.
                raise RuntimeError("No hooks are installed. Call app.hooks.connect_hooks() first.")
            found: dict[type[Any], list[Hook]] = {}
            for room in self._load():
                for event_type, hook in room.items():
                    found.setdefault(event_type, []).append(hook)
            self._by_event = found
        return self._by_event


_registry = _Registry()


def install(load: Callable[[], Iterable[Hooks]]) -> None:
    """Replace all hooks. `load` returns those of each room. It is called when they are first
    needed, so that a command that changes nothing does not import every room.
    """
    _registry.install(load)


def load() -> None:
    """Import the rooms that have hooks or events, if that has not happened yet."""
    _registry.by_event()


def call(tx: "Transaction", by: Actor | Stranger, event: object) -> None:
    for hook in _registry.by_event().get(type(event), ()):
        hook(tx, by, event)
