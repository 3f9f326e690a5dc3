"""DamageWatch: what a worker does about damaged bundles on its disk, and how much it has found."""

from pathlib import Path

import structlog

from ..catalog.replica.replica import Replica
from ..core.data_folder import DataFolder
from ..core.db.damage import bundle_alarm
from ..core.errors import DataDamaged
from ..core.files.encoding import encoding_of
from ..core.files.verified import Scrub, set_aside
from ..core.settings import Settings

_log = structlog.get_logger("widget_catalog.bundles")


class DamageWatch:
    def __init__(self, folder: DataFolder, settings: Settings, replica: Replica) -> None:
        self._replica = replica
        self._is_cache = settings.backends.bundles is not None
        self.bundles = bundle_alarm(folder.bundle_damage)
        self.found_in_bundles = 0
        files = folder.bundle_cache if self._is_cache else folder.bundles
        self._scrub = Scrub(files, folder.scrub_lock, settings.scrub_mb_per_s, self.note_file)

    def close(self) -> None:
        self._scrub.close()

    @property
    def found_in_replica(self) -> int:
        return self._replica.healing.found

    @property
    def scrubbed(self) -> int:
        return self._scrub.verified

    def note_file(self, path: Path) -> None:
        """What is cached or derived is removed, and fetched or made again; another file is renamed,
        and raises the alarm.
        """
        if encoding_of(path) is not None:
            _log.error("A compressed bundle was damaged; it is made again.", file=str(path))
            path.unlink(missing_ok=True)
        elif self._is_cache:
            _log.error("A cached bundle was damaged; it is fetched again.", file=str(path))
            path.unlink(missing_ok=True)
        elif not set_aside(path):
            return
        else:
            self.bundles.report(DataDamaged(f"The bundle {path} is damaged."))
        self.found_in_bundles += 1
