"""CurrentSettings: the content of `/api/settings`. Features contribute to it; what they say may
change while the service runs.
"""

import asyncio
import time

import msgspec

from widget_contract import wire

from . import release
from .errors import StoreUnavailable
from .features import installed
from .http.content import Content
from .http.services import Services
from .settings import Settings

_READ_EVERY_S = 0.5


def public_settings(settings: Settings) -> wire.Settings:
    """Without secrets, and without what depends on the database."""
    shown = wire.Settings(
        service_name=settings.service_name,
        base_url=settings.public_url,
        cdn_base_url=settings.cdn_url,
        sign_in=(),
        cli_client_id="",
        registration_open=False,
        max_bundle_bytes=settings.max_bundle_bytes,
        api_versions=release.API_VERSIONS,
    )
    for feature in installed():
        shown = msgspec.structs.replace(shown, **feature.public_settings(settings))
    return shown


class CurrentSettings:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings = public_settings(services.settings)
        self._read_at = float("-inf")
        self._show(self._settings)
        self.read()

    def read(self) -> None:
        """Ask the features again. The last value stays while the database is down."""
        self._read_at = time.monotonic()
        shown = self._settings
        try:
            for feature in installed():
                shown = msgspec.structs.replace(shown, **feature.current_settings(self._services))
        except StoreUnavailable:
            return
        self._show(shown)

    async def content(self) -> Content:
        """Read in a thread, because the database may be slow."""
        if time.monotonic() - self._read_at > _READ_EVERY_S:
            await asyncio.to_thread(self.read)
        return self._content

    def _show(self, shown: wire.Settings) -> None:
        self._content = Content(msgspec.json.encode(shown))
        mirrored = shown.mirror_of
        self._services.renderer.show_mirror(mirrored.url if mirrored else "")
