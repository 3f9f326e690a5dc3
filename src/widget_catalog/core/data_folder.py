"""DataFolder: paths of the files in a data folder."""

from pathlib import Path
from typing import NamedTuple


class DataFolder(NamedTuple):
    """Backups need `catalog.db`, `bundles`, and separately `second-factor.key`; the rest is
    rebuilt. Rebuilding a large replica and index takes so long that backups include them as well.
    """

    path: Path

    @property
    def database(self) -> Path:
        return self.path / "catalog.db"

    @property
    def bundles(self) -> Path:
        return self.path / "bundles"

    @property
    def bundle_cache(self) -> Path:
        return self.path / "bundle-cache"

    @property
    def uploads(self) -> Path:
        return self.path / "uploads"

    @property
    def second_factor_key(self) -> Path:
        return self.path / "second-factor.key"

    @property
    def icons(self) -> Path:
        return self.path / "icons"

    @property
    def revision(self) -> Path:
        return self.path / "run" / "revision"

    @property
    def counts(self) -> Path:
        return self.path / "run" / "counts"

    @property
    def replica(self) -> Path:
        return self.path / "replica"

    @property
    def replica_lock(self) -> Path:
        return self.path / "run" / "replica.lock"

    @property
    def search_index(self) -> Path:
        return self.path / "run" / "index"

    @property
    def metrics(self) -> Path:
        return self.path / "run" / "metrics"

    @property
    def service_lock(self) -> Path:
        return self.path / "run" / "service.lock"

    @property
    def keys(self) -> Path:
        return self.path / "run" / "keys"

    @property
    def damage(self) -> Path:
        return self.path / "run" / "damage"

    @property
    def writer_lock(self) -> Path:
        return self.path / "run" / "writer.lock"

    @property
    def node_status(self) -> Path:
        return self.path / "run" / "node"

    @property
    def webhook_lock(self) -> Path:
        return self.path / "run" / "webhooks.lock"

    @property
    def last_backup(self) -> Path:
        """When the last backup was complete."""
        return self.path / "run" / "last-backup"

    @property
    def follower_lock(self) -> Path:
        return self.path / "run" / "follower.lock"
