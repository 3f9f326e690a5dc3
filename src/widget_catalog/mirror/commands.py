"""`widget-catalog mirror`."""

import signal
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from widget_contract.errors import CatalogError
from widget_contract.names import Scope
from widget_contract.texts import printable

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    command_node,
    fail,
    report,
    say,
    say_some,
    seconds_of,
)
from ..core import clock
from ..core.clock import counted
from ..core.errors import MirrorRefused
from ..core.load_settings import load_settings
from ..core.settings import Settings
from .settings import MirrorSettings

if TYPE_CHECKING:
    from widget_catalog_client import Catalog

    from ..catalog.node.node import Node
    from .mirroring import Mirroring, Selection

_WHICH = "Pass the URL of the catalog to copy: widget-catalog mirror URL"
_NO_MIRROR = "This catalog is not a mirror."
_MANY = 1_000
# Delay after a failure: initial and maximum.
_FIRST_WAIT_S, _LONGEST_WAIT_S = 2.0, 60.0


def mirror(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="URL",
            help="The URL of the catalog to copy, a service or a static site, or the folder of a "
            "static site; a URL is required only the first time.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help="Only this scope; repeatable."),
    ] = None,
    official: Annotated[bool, typer.Option("--official", help="Only official widgets.")] = False,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Run until stopped, and poll for changes every 30s, 5m or 1h.",
            show_default=False,
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Run until stopped, and copy changes immediately.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Only print the mirrored catalog and the progress.")
    ] = False,
    end: Annotated[
        bool,
        typer.Option(
            "--end", help="Stop mirroring. The copied widgets remain, in an ordinary catalog."
        ),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Mirror another catalog: copy all of it at first, then only changes.

    Bundles are verified. Downloads are counted separately. The service may run on the same folder
    meanwhile; it shows that it is a mirror, and rejects publishing. Run the command again to resume
    an interrupted copy. Exit code 1: the other catalog cannot be read, or some of its widgets
    cannot be copied; widgets copied before remain.
    """
    from ..core.networks import parse_networks
    from .mirroring import Mirroring, Selection
    from .other_hosts import OtherHosts
    from .places import open_upstream

    if every is not None and follow:
        fail("Use --every or --follow, not both.")
    every_s = None if every is None else seconds_of(every)
    selection = Selection(tuple(sorted({str(Scope.parse(it)) for it in scope or ()})), official)
    settings = load_settings({"data": data}, config)
    if status or end:
        _report_status(settings, is_end=end)
        return
    node, url, selection = _choose(settings, url, selection)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    with open_upstream(url) as catalog:
        mirroring = Mirroring(
            node.store,
            node.bundles,
            catalog,
            settings.max_bundle_bytes,
            OtherHosts(parse_networks(settings.of(MirrorSettings).mirror_networks)),
            settings.base_url,
        )
        mirroring.begin(selection)
        if every_s is not None:
            _repeat(node, mirroring, every_s)
        elif follow:
            _follow(node, mirroring, catalog)
        else:
            _run_once(node, mirroring)


def _report_status(settings: Settings, *, is_end: bool) -> None:
    """Print what is mirrored, or stop mirroring it."""
    from .store import end_mirroring, find_status

    if _is_new(settings):
        fail(_NO_MIRROR)
    node = command_node(settings)
    known = find_status(node.store)
    if known is None:
        fail(_NO_MIRROR)
    if is_end:
        end_mirroring(node.store)
    report(f"No longer a mirror of {known.mirror.url}." if is_end else known.describe())


def _choose(
    settings: Settings, url: str | None, selection: "Selection"
) -> tuple["Node", str, "Selection"]:
    """The catalog here; and what to copy: without a URL, what was copied before."""
    from .mirroring import Selection, require_scopes
    from .places import open_upstream
    from .store import find_status

    if _is_new(settings):
        if url is None:
            fail(_WHICH)
        # Before the folder is created, so that none is left behind if there is nothing to copy.
        with open_upstream(url) as catalog:
            catalog.settings()
            require_scopes(catalog, selection)
    node = command_node(settings)
    if url is not None:
        return node, url, selection
    known = find_status(node.store)
    if known is None:
        fail(_WHICH)
    return node, known.mirror.url, Selection(known.mirror.scopes, known.mirror.only_official)


def _is_new(settings: Settings) -> bool:
    """Whether there is no catalog yet. Shared databases are created separately."""
    folder = settings.data
    return not settings.database and (
        not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    )


def _run(node: "Node", mirroring: "Mirroring") -> bool:
    """One round; returns whether everything could be copied."""
    from ..catalog.node.node import make_index_ready
    from ..core.progress import counting

    done = mirroring.run(partial(counting, say, "Copying"))
    say_some("[red]Not copied:[/]", [printable(it) for it in done.errors])
    if done.changed or not done.errors:
        copied = f"Copied {counted(done.changed, 'widget')}."
        report(copied if done.changed else _nothing(node))
    if done.changed >= _MANY:
        make_index_ready(node)
    return not done.errors


def _nothing(node: "Node") -> str:
    from ..catalog.store.widgets import count_widgets

    with node.store.reading() as connection:
        is_empty = count_widgets(connection) == 0
    return "There are no widgets to copy." if is_empty else "Nothing has changed."


def _run_once(node: "Node", mirroring: "Mirroring") -> None:
    try:
        is_whole = _run(node, mirroring)
    except OSError as error:
        fail(f"Cannot store copied data: {error.strerror} ({error.filename}).")
    if not is_whole:
        raise typer.Exit(1)


def _repeat(node: "Node", mirroring: "Mirroring", every_s: float) -> None:
    report(f"Polling for changes every {every_s:g} s. Press Ctrl-C to stop.")
    while True:
        _try(partial(_run, node, mirroring))
        time.sleep(every_s)


def _follow(node: "Node", mirroring: "Mirroring", catalog: "Catalog") -> None:
    report("Following changes. Press Ctrl-C to stop.")
    wait_s = _FIRST_WAIT_S
    while True:
        if _try(partial(_run, node, mirroring)):
            wait_s = _FIRST_WAIT_S
            if _try(partial(_wait_for_change, mirroring, catalog)):
                continue
        time.sleep(wait_s)
        wait_s = min(2 * wait_s, _LONGEST_WAIT_S)


def _wait_for_change(mirroring: "Mirroring", catalog: "Catalog") -> bool:
    seq = mirroring.seq
    return any(change.seq > seq for change in catalog.watch(seq))


def _try(run: "partial[bool]") -> bool:
    """Report errors, and continue. What was copied is visible."""
    try:
        return run()
    except MirrorRefused:
        raise
    except (CatalogError, OSError) as error:
        now = clock.iso(clock.now())
        say.print(f"{now}  [red]Error:[/] {escape(printable(str(error)))} Retrying.")
        return False
