"""Builds the objects of commands: a node, and a reader of its catalog.

Rarely needed modules are imported where they are used, to keep the other commands fast.
"""

from typing import TYPE_CHECKING

from ...core import clock
from ...core.clock import Clock
from ...core.data_folder import DataFolder as DataFolder
from ...core.settings import Settings
from .node import Node as Node
from .node import make_index_ready as make_index_ready
from .node import open_node as open_node
from .node import prepare_node as prepare_node

if TYPE_CHECKING:
    from ..catalog import Catalog


def open_catalog(node: Node, settings: Settings, now: Clock = clock.now) -> "Catalog":
    """A reader of this node's catalog, with its own index and caches."""
    from ..cache_size import choose_cache_bytes
    from ..catalog import Catalog
    from ..replica.documents import Documents
    from ..search.follower import IndexSource

    documents = Documents(node.folder.replica)
    return Catalog(
        documents,
        node.revision,
        node.counts,
        settings.cdn_url,
        choose_cache_bytes(settings),
        now,
        index_source=IndexSource(node.folder.replica, node.folder.search_index),
    )
