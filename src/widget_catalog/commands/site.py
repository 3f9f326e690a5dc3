"""`widget-catalog site`: the catalog as plain files for any static host."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from ..settings import load_settings
from .context import ConfigOption, DataOption, existing_node, report, say

if TYPE_CHECKING:
    from ..actions.site_folder import SiteFolder
    from ..bundles.contract import Bundles
    from ..progress import Advance
    from ..web.static_site import StaticSite


def site(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to write it.", show_default=False)
    ],
    base_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Where the site will be reached; it may have a path.",
            show_default=False,
        ),
    ],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Write the catalog as plain files: pages, the API's answers, feeds, badges and bundles.

    Any static host or CDN can serve them. Only files that have changed are written, each as a
    whole; what is gone is removed at the end. The folder must be new, empty, or made by this
    command. If the setting cdn_base_url is given, bundles are linked to there and not copied.
    The service may be running.
    """
    from ..actions.site_folder import SiteFolder
    from ..greeting import counted
    from ..progress import counting
    from ..wiring import build_static_site

    has_path = bool(urlsplit(base_url).path.strip("/"))
    flags = {"data": data, "base_url": base_url}
    settings = load_settings(flags, config, {"shares_origin": "true"} if has_path else {})
    node = existing_node(settings, reads_replica=True)
    target = SiteFolder(folder)
    target.begin()
    made, close = build_static_site(node, settings)
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
        f"were as they should be, {removed:,} removed."
    )


async def _write(
    made: "StaticSite", target: "SiteFolder", bundles: "Bundles | None", advance: "Advance"
) -> None:
    from ..web.static_site import BundleFile

    seen = 0
    async for file in made.files():
        if not isinstance(file, BundleFile):
            target.put(*file)
        elif bundles is not None and not target.has(file.path, file.size_bytes):
            with bundles.open(file.sha256_hash, file.kind) as content:
                target.put_bundle(file.path, content)
        advance(made.written - seen)
        seen = made.written
