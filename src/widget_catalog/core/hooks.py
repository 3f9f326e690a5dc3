"""How a room acts in rooms below it, which do not import it: with hooks, and at extension points.

A hook is called when an event happens: in its transaction, before it is recorded, in the order of
the rooms. It may change its own tables, append events, or raise an error to refuse what is about to
happen. An extension point is a function that a room above replaces.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

from .actors import Actor, Anonymous

if TYPE_CHECKING:
    from .db.engine import Transaction

P = ParamSpec("P")
R = TypeVar("R")

Hooks: TypeAlias = Mapping[Any, Callable[..., Any]]
"""The functions of a room, by what they are connected to: a type of event, for a hook that takes
the transaction, the actor and the event; or an extension point.
"""


_loaders: Sequence[Callable[[], Hooks]] = ()
_found: dict[Any, list[Callable[..., Any]]] | None = None


def use_hooks(loaders: Sequence[Callable[[], Hooks]]) -> None:
    """Replace all hooks. They are loaded when they are first needed, so that a command that
    changes nothing does not import every feature.
    """
    global _loaders, _found
    _loaders, _found = loaders, None


def load() -> dict[Any, list[Callable[..., Any]]]:
    """Import the features that have hooks or events, if that has not happened yet."""
    global _found
    if _found is None:
        if not _loaders:
            # Otherwise changes would silently lack their consequences.
            raise RuntimeError("No features are installed: call install_features() first.")
        found: dict[Any, list[Callable[..., Any]]] = {}
        for load_hooks in _loaders:
            for connected, function in load_hooks().items():
                found.setdefault(connected, []).append(function)
        _found = found
    return _found


def call(tx: "Transaction", by: Actor | Anonymous, event: object) -> None:
    """Call the hooks of this type of event."""
    for hook in load().get(type(event), ()):
        hook(tx, by, event)


class ExtensionPoint(Generic[P, R]):
    def __init__(self, default: Callable[P, R]) -> None:
        self._default = default
        update_wrapper(self, default)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = load().get(self, [self._default])[-1](*args, **kwargs)
        return result


def extension_point(default: Callable[P, R]) -> ExtensionPoint[P, R]:
    """A function that is used if no room replaces it."""
    return ExtensionPoint(default)
