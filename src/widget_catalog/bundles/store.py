"""The contract of a place that keeps bundles. Bytes are addressed by their SHA-256."""

from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["js", "css"]
"""A module, or the style sheet beside it."""


class BundleStore(Protocol):
    """Write-once: what lies under a hash has that hash, and is never replaced."""

    def put_file(self, source: Path, sha256_hash: str, kind: Kind = "js") -> bool:
        """Keep these bytes; False if they were here already. The hash is checked on the way in."""

    def path_of(self, sha256_hash: str, kind: Kind = "js") -> Path:
        """Where the bytes lie. The file may be missing: see `check`."""

    def remove(self, sha256_hash: str, kind: Kind = "js") -> None:
        """Take back bytes that no version refers to."""

    def check(self) -> None:
        """Raises FolderUnusable if bundles cannot be read just now."""
