"""Builds the objects of commands: a node, a reader of its catalog, a static site. See also
worker.py.

Rarely needed modules are imported where they are used, to keep the other commands fast.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...core import clock
from ...core.clock import Clock
from ...core.data_folder import DataFolder as DataFolder
from ...core.settings import Settings
from ..settings import CatalogSettings
from .node import Node as Node
from .node import make_index_ready as make_index_ready
from .node import open_node as open_node
from .node import prepare_node as prepare_node

if TYPE_CHECKING:
    from ...organizations.store import Member
    from ...static_site.static_site import StaticSite
    from ..catalog import Catalog


def open_catalog(node: Node, settings: Settings, now: Clock = clock.now) -> "Catalog":
    """A reader of this node's catalog, with its own index and caches."""
    from ..catalog import Catalog
    from ..replica.documents import Documents
    from ..search.follower import IndexSource

    documents = Documents(node.folder.replica)
    cache_bytes = settings.of(CatalogSettings).cache_mb << 20
    return Catalog(
        documents,
        node.revision,
        node.counts,
        settings.cdn_url,
        cache_bytes,
        now,
        index_source=IndexSource(node.folder.replica, node.folder.search_index),
    )


def build_static_site(node: Node, settings: Settings) -> "tuple[StaticSite, Callable[[], None]]":
    """The writer of a static site, and a function to close it."""
    from ...core.http.current_settings import public_settings
    from ...core.http.rendering import PageRenderer
    from ...organizations.organize import list_public_members
    from ...static_site.static_site import StaticSite
    from ..pages.icons import Icons
    from ..pages.pages import PublicPages
    from ..pages.scope_page import MembersReader

    catalog = open_catalog(node, settings)
    renderer = PageRenderer(settings.service_name, settings.public_url, is_static=True)

    async def find_members(scope: str) -> "list[Member]":
        return list_public_members(node.store, scope)

    pages = PublicPages(
        catalog,
        renderer,
        settings.cdn_url,
        node.bundles,
        Icons(node.folder.icons),
        members=MembersReader(find_members),
    )
    return StaticSite(catalog, pages, renderer, public_settings(settings)), catalog.close
