"""DataFolder: paths of the files in a data folder. And their disk space: allocated in advance, and
synchronized.
"""

import os
import sys
from pathlib import Path


class DataFolder:
    """Backups need `catalog.db`, `bundles`, and separately `second-factor.key`; the rest is
    rebuilt. Rebuilding a large replica and index takes so long that backups include them as well.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run = run = path / "run"
        self.database = path / "catalog.db"
        self.bundles = path / "bundles"
        self.bundle_cache = path / "bundle-cache"
        self.uploads = path / "uploads"
        self.second_factor_key = path / "second-factor.key"
        self.icons = path / "icons"
        self.fonts = path / "fonts"
        self.revision = run / "revision"
        self.counts = run / "counts"
        self.replica = path / "replica"
        self.replica_lock = run / "replica.lock"
        self.search_index = run / "index"
        self.metrics = run / "metrics"
        self.service_lock = run / "service.lock"
        self.keys = run / "keys"
        self.damage = run / "damage"
        self.bundle_damage = run / "bundle-damage"
        self.scrub_lock = run / "scrub.lock"
        self.encoding_lock = run / "encoding.lock"
        self.encoded = run / "encoded"
        self.writer_lock = run / "writer.lock"
        self.node_status = run / "node"
        self.follower_lock = run / "follower.lock"


def allocate(descriptor: int, size: int) -> None:
    """Allocate disk space for this many bytes of a file, so that they can be mapped and written."""
    if sys.platform == "darwin":  # Not available there: a full disk is not handled.
        os.ftruncate(descriptor, max(size, os.fstat(descriptor).st_size))
    else:
        os.posix_fallocate(descriptor, 0, size)


def sync(path: Path) -> None:
    """Fsync a file; or a folder, which makes new files and folders in it durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
