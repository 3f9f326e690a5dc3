"""Snapshot: the catalog as signed files, for networks without a connection."""

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import keys, snapshots

FEATURE = Feature(
    name="snapshot",
    tables=("widget_catalog.snapshot.store",),
    commands=(Command(snapshots, DATA), Command(keys, DATA)),
)
