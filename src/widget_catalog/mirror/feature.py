"""Mirror: a read-only copy of another catalog, which follows its changes."""

import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

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
    seconds_of,
)
from ..core import clock
from ..core.clock import counted
from ..core.commands import DATA, Command
from ..core.errors import MirrorRefused
from ..core.features import Feature, value_of
from ..core.load_settings import load_settings
from ..core.setting_rules import check_networks
from ..core.settings import FeatureSettings, Settings, setting

if TYPE_CHECKING:
    from widget_catalog_client import Catalog

    from ..catalog.node.node import Node
    from ..core.http.services import Services
    from .mirroring import Mirroring


@dataclass(frozen=True, kw_only=True)
class MirrorSettings(FeatureSettings):
    mirror_networks: str = setting(
        "",
        "Private networks that a [mirror](import-and-export.md#mirrors) may reach besides the "
        "host of its upstream, such as `10.1.0.0/16`, separated by spaces.",
        rule=check_networks,
    )


_WHICH = "Pass the URL of the catalog to copy: widget-catalog mirror URL"
_SHOWN = 20
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
    from .mirroring import Mirroring, Selection, require_scopes
    from .other_hosts import OtherHosts
    from .places import open_upstream
    from .store import end_mirroring, find_status

    if every is not None and follow:
        fail("Use --every or --follow, not both.")
    every_s = None if every is None else seconds_of(every)
    settings = load_settings({"data": data}, config)
    wanted = Selection(tuple(sorted({str(Scope.parse(it)) for it in scope or ()})), official)
    if _is_new(settings):
        if status or end:
            fail("This catalog is not a mirror.")
        if url is None:
            fail(_WHICH)
        # Before the folder is created, so that none is left behind if there is nothing to copy.
        with open_upstream(url) as catalog:
            catalog.settings()
            require_scopes(catalog, wanted)
    node = command_node(settings)
    known = find_status(node.store)
    if status or end:
        if known is None:
            fail("This catalog is not a mirror.")
        if end:
            end_mirroring(node.store)
        report(f"No longer a mirror of {known.mirror.url}." if end else known.describe())
        return
    if url is None:
        if known is None:
            fail(_WHICH)
        url, wanted = known.mirror.url, Selection(known.mirror.scopes, known.mirror.only_official)
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
        mirroring.begin(wanted)
        if every_s is None and not follow:
            try:
                is_whole = _run(node, mirroring)
            except OSError as error:
                fail(f"Cannot store copied data: {error.strerror} ({error.filename}).")
            if not is_whole:
                raise typer.Exit(1)
        elif every_s is not None:
            _repeat(node, mirroring, every_s)
        else:
            _follow(node, mirroring, catalog)


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
    for sentence in done.errors[:_SHOWN]:
        say.print(f"[red]Not copied:[/] {escape(printable(sentence))}")
    if len(done.errors) > _SHOWN:
        say.print(f"… and {len(done.errors) - _SHOWN:,} more.")
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


def _current_settings(services: "Services") -> Mapping[str, Any]:
    from widget_contract import wire

    from .store import find_mirror

    with services.store.reading() as connection:
        source = find_mirror(connection)
    if source is None:
        return {}
    of = wire.MirrorOf(source.url, source.mirror_id, source.through)
    return {"registration_open": False, "mirror_of": of}


FEATURE = Feature(
    name="mirror",
    tables=("widget_catalog.mirror.store",),
    settings=MirrorSettings,
    commands=(
        Command(
            mirror,
            DATA,
            (
                "mirror https://catalog.example --data mirror",
                "mirror https://catalog.example --scope acme --official --follow",
                "mirror /media/disk/site --data mirror",
                "mirror --status --data mirror",
            ),
        ),
    ),
    hooks=value_of("widget_catalog.mirror.store:HOOKS"),
    current_settings=_current_settings,
)
