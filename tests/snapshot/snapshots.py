"""Snapshots with the real actions, between data folders without a server."""

from pathlib import Path

from widget_catalog.catalog.node.node import Node
from widget_catalog.core.progress import no_bar
from widget_catalog.snapshot.keys import (
    SigningKey,
    VerifyingKey,
    create_keys,
    read_signing_key,
    read_verifying_key,
)
from widget_catalog.snapshot.layout import Header
from widget_catalog.snapshot.loader import Loaded, load_snapshot
from widget_catalog.snapshot.reader import open_snapshot, read_header
from widget_catalog.snapshot.writer import Wanted, make_snapshot
from widget_catalog.transfer.export_catalog import copied_to, export_catalog

ORIGIN = "https://catalog.example"


class Pair:
    """A private key and its public one."""

    def __init__(self, name: Path) -> None:
        self.made = create_keys(name)
        self.signing: SigningKey = read_signing_key(self.made.private)
        self.verifying: VerifyingKey = read_verifying_key(self.made.public)


def make(
    node: Node,
    file: Path,
    keys: Pair | None,
    scopes: list[str] | None = None,
    since: Path | None = None,
) -> Header:
    wanted = Wanted(ORIGIN, scopes, None if since is None else read_header(since))
    signing = None if keys is None else keys.signing
    return make_snapshot(node.store, node.bundles, file, wanted, signing, no_bar)


def verify(file: Path, keys: Pair | None) -> Header:
    with open_snapshot(file, None if keys is None else keys.verifying) as snapshot:
        snapshot.verify()
        return snapshot.header


def load(node: Node, file: Path, keys: Pair | None) -> Loaded:
    with open_snapshot(file, None if keys is None else keys.verifying) as snapshot:
        snapshot.verify()
        return load_snapshot(node.store, node.bundles, snapshot, no_bar)


def everything(node: Node, folder: Path) -> tuple[bytes, dict[str, bytes]]:
    """The export of a catalog, and its files."""
    folder.mkdir(exist_ok=True)
    lines = b"".join(export_catalog(node.store, copied_to(folder, node.bundles)))
    return lines, {it.name: it.read_bytes() for it in (folder / "bundles").glob("*")}
