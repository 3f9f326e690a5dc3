"""How a room acts in rooms below it, which do not import it: with hooks, and at extension points.

A hook is called when an event happens: in its transaction, before it is recorded, in the order of
the rooms. It may change its own tables, append events, or raise an error to refuse what is about to
happen. An extension point is a function that a room above replaces.
"""

from collections.abc import Callable, Mapping
from functools import cache, update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar

from .actors import Actor, Stranger
from .features import Feature, installed

if TYPE_CHECKING:
    from .db.engine import Transaction

P = ParamSpec("P")
R = TypeVar("R")

Hooks: TypeAlias = Mapping[Any, Callable[..., Any]]
"""The functions of a room, by what they are connected to: a type of event, for a hook that takes
the transaction, the actor and the event; or an extension point.
"""


@cache
def _find_all(features: tuple[Feature, ...]) -> Mapping[Any, list[Callable[..., Any]]]:
    """Loaded when they are first needed, so that a command that changes nothing does not import
    every feature.
    """
    if not features:
        # Otherwise changes would silently lack their consequences.
        raise RuntimeError("No features are installed. Call app.features.install_features() first.")
    found: dict[Any, list[Callable[..., Any]]] = {}
    for feature in features:
        for connected, function in feature.hooks().items():
            found.setdefault(connected, []).append(function)
    return found


def _find(key: object) -> list[Callable[..., Any]]:
    return _find_all(installed()).get(key, [])


def load() -> None:
    """Import the features that have hooks or events, if that has not happened yet."""
    _find(None)


def call(tx: "Transaction", by: Actor | Stranger, event: object) -> None:
    """Call the hooks of this type of event."""
    for hook in _find(type(event)):
        hook(tx, by, event)


class ExtensionPoint(Generic[P, R]):
    def __init__(self, default: Callable[P, R]) -> None:
        self._default = default
        update_wrapper(self, default)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        found = _find(self)
        result: R = (found[-1] if found else self._default)(*args, **kwargs)
        return result


def extension_point(default: Callable[P, R]) -> ExtensionPoint[P, R]:
    """A function that is used if no room replaces it."""
    return ExtensionPoint(default)
