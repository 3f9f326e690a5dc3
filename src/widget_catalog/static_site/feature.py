"""Static site: the public catalog as plain files for any static host, `widget-catalog site`."""

import asyncio
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from ..catalog.node.context import ConfigOption, DataOption, existing_node, report, say
from ..core.commands import DATA, Command
from ..core.features import Feature
from ..core.load_settings import load_settings


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
    from ..core.clock import counted
    from ..core.progress import counting
    from .static_site import SiteFolder, build_static_site

    has_path = bool(urlsplit(base_url).path.strip("/"))
    flags = {"data": data, "base_url": base_url}
    settings = load_settings(flags, config, {"shares_origin": "true"} if has_path else {})
    node = existing_node(settings, reads_replica=True)
    target = SiteFolder(folder)
    target.begin()
    made, close = build_static_site(node, settings, target)
    try:
        with counting(say, "Writing widgets", made.widgets) as advance:
            asyncio.run(made.write(advance))
    finally:
        close()
        node.store.close()
    removed = target.finish()
    report(
        f"Wrote {counted(target.changed, 'file')} to {folder}; {target.files - target.changed:,} "
        f"were up to date, {removed:,} removed."
    )


FEATURE = Feature(
    name="static site",
    commands=(Command(site, DATA, ("site public --base-url https://widgets.example",)),),
)
