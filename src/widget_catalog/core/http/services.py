"""Services: what handlers work with. Each feature provides its own, by type."""

from collections.abc import Callable
from typing import Any, TypeVar

from ..db.engine import Store
from ..files.contract import Bundles, Uploads
from ..keys import Keys, SigningKey
from ..settings import Settings
from .rendering import PageRenderer

S = TypeVar("S")


class Services:
    def __init__(
        self,
        *,
        store: Store,
        bundles: Bundles,
        check_bundles: Callable[[], None],
        uploads: Uploads,
        settings: Settings,
        keys: Keys,
        renderer: PageRenderer,
        applied_seq: Callable[[], int],
    ) -> None:
        """`check_bundles` raises FolderUnusable or BundlesDown, without waiting for the object
        store; `applied_seq` is the newest change that this node shows to readers.
        """
        self.store = store
        self.bundles = bundles
        self.check_bundles = check_bundles
        self.uploads = uploads
        self.settings = settings
        self.keys = keys
        self.renderer = renderer
        self.applied_seq = applied_seq
        self._provided: dict[type, Any] = {}

    @property
    def signing_key(self) -> SigningKey:
        """Signs values that browsers keep for some minutes."""
        return self.keys.for_purpose("signing in")

    def provide(self, service: object) -> None:
        """Make a feature's service available to handlers, by its type."""
        self._provided[type(service)] = service

    def of(self, kind: type[S]) -> S:
        """The service of this type. Its feature is installed, or its handlers would not run."""
        service: S = self._provided[kind]
        return service
