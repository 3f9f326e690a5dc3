"""Services: what handlers work with besides their call, and the services of features."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..db.engine import Store
from ..files.contract import Bundles, Uploads
from ..keys import Keys, SigningKey
from ..settings import Settings
from .rendering import PageRenderer

T = TypeVar("T")


@dataclass(eq=False, kw_only=True)
class Services:
    store: Store
    bundles: Bundles
    check_bundles: Callable[[], None]
    """Raises FolderUnusable or BundlesDown, without waiting for the object store."""
    uploads: Uploads
    settings: Settings
    keys: Keys
    renderer: PageRenderer
    applied_seq: Callable[[], int]
    """The newest change that this node shows to readers."""
    notifications: Callable[[], int] | None = None
    """A number that differs once any node has changed something. None: there are no nodes."""
    _provided: dict[type, Any] = field(default_factory=dict, init=False)

    @property
    def signing_key(self) -> SigningKey:
        """Signs values that browsers keep for some minutes."""
        return self.keys.for_purpose("signing in")

    def provide(self, service: object) -> None:
        """Make a feature's service available to handlers, by its type."""
        self._provided[type(service)] = service

    def of(self, kind: type[T]) -> T:
        """The service of this type. Its feature is installed, or its handlers would not run."""
        service: T = self._provided[kind]
        return service
