"""`widget-catalog site`: the catalog as plain files for any static host."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from ..catalog.node.context import ConfigOption, DataOption, existing_node, report, say
from ..core.settings import Settings, load_settings

if TYPE_CHECKING:
    from ..catalog.node.node import Node
    from ..core.files.contract import Bundles
    from ..core.progress import Advance
    from ..organizations.store import Member
    from .folder import SiteFolder
    from .static_site import StaticSite


def site(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder to write to.", show_default=False)
    ],
    base_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The public URL of the site; it may have a path.",
            show_default=False,
        ),
    ],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Export the catalog as a static site: pages, API responses, feeds, badges and bundles.

    Any static host or CDN can serve it. Only changed files are written, atomically; obsolete files
    are removed at the end. The folder must be new, empty, or created by this command. If
    cdn_base_url is set, bundles are linked from there and not copied. The service may be running.
    """
    from ..core.amounts import counted
    from ..core.progress import counting
    from .folder import SiteFolder

    has_path = bool(urlsplit(base_url).path.strip("/"))
    flags = {"data": data, "base_url": base_url}
    settings = load_settings(flags, config, {"shares_origin": "true"} if has_path else {})
    node = existing_node(settings, reads_replica=True)
    target = SiteFolder(folder)
    target.begin()
    made, close = _build(node, settings)
    bundles = None if settings.cdn_base_url else node.bundles
    try:
        with counting(say, "Writing widgets", made.widgets) as advance:
            asyncio.run(_write(made, target, bundles, advance))
    finally:
        close()
        node.store.close()
    removed = target.finish()
    report(
        f"Wrote {counted(target.changed, 'file')} to {folder}; {target.files - target.changed:,} "
        f"were up to date, {removed:,} removed."
    )


def _build(node: "Node", settings: Settings) -> "tuple[StaticSite, Callable[[], None]]":
    """The writer of a static site, and a function to close it."""
    from ..catalog.node.wiring import open_catalog
    from ..catalog.pages.icons import Icons
    from ..catalog.pages.pages import PublicPages
    from ..catalog.pages.scope_page import MembersReader
    from ..core.http.current_settings import public_settings
    from ..core.http.rendering import PageRenderer
    from ..organizations.organize import list_public_members
    from .static_site import StaticSite

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


async def _write(
    made: "StaticSite", target: "SiteFolder", bundles: "Bundles | None", advance: "Advance"
) -> None:
    from .static_site import BundleFile

    seen = 0
    async for file in made.files():
        if not isinstance(file, BundleFile):
            target.put(*file)
        elif bundles is not None and not target.has(file.path, file.size_bytes):
            with bundles.open(file.sha256_hash, file.kind) as content:
                target.put_bundle(file.path, content)
        advance(made.written - seen)
        seen = made.written
