"""CurrentSettings: the content of `/api/settings`. It changes only when a catalog becomes a
mirror.
"""

import asyncio
import time

import msgspec

from widget_contract import wire

from ...mirror.status import find_source
from ...mirror.store import Mirror
from ..db.engine import Store
from ..errors import StoreUnavailable
from .content import Content
from .rendering import PageRenderer

_READ_EVERY_S = 0.5


class CurrentSettings:
    def __init__(self, settings: wire.Settings, store: Store, renderer: PageRenderer) -> None:
        self._settings = settings
        self._store = store
        self._renderer = renderer
        self._read_at = float("-inf")
        self._show(None)

    def read(self) -> None:
        """Check whether this is a mirror. The last value stays while the database is down."""
        self._read_at = time.monotonic()
        try:
            self._show(find_source(self._store))
        except StoreUnavailable:
            return

    async def content(self) -> Content:
        """Read in a thread, because the database may be slow."""
        if time.monotonic() - self._read_at > _READ_EVERY_S:
            await asyncio.to_thread(self.read)
        return self._content

    def _show(self, mirror: Mirror | None) -> None:
        shown = self._settings
        if mirror is not None:
            of = wire.MirrorOf(mirror.url, mirror.mirror_id, mirror.through)
            shown = msgspec.structs.replace(shown, registration_open=False, mirror_of=of)
        self._content = Content(msgspec.json.encode(shown))
        self._renderer.show_mirror("" if mirror is None else mirror.url)
