"""What a start checks, completes and prints, and the example widgets of `serve --demo`.

The service can read from the beginning. Writes can wait for another writer: counts that a killed
one did not apply, leftovers of uploads, and the link that creates the first account.
"""

import mmap
import random
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from rich.console import Console
from rich.markup import escape

from widget_contract.semver import SemVer

from ..catalog.model.settings import CatalogSettings
from ..catalog.node.context import say
from ..catalog.node.node import Node, choose_cache_bytes
from ..catalog.search.file import check_index
from ..catalog.store.downloads import add_installs, get_counts
from ..catalog.store.installs import CHART_DAYS, today_of
from ..catalog.store.widgets import count_widgets, stream_widgets
from ..core.db.file_lock import find_holder
from ..core.errors import StoreUnavailable, WriterBusy
from ..core.features import installed
from ..core.load_settings import find_exposed_secrets
from ..core.release import CLI_LATEST
from ..core.settings import Settings
from ..transfer.feature import import_file

if TYPE_CHECKING:
    from ..transfer.import_checks import ImportSummary


_SERVE = "widget-catalog serve"


class StartWork:
    """Must be created before the workers are forked: one of them does the deferred work."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_put_off = mmap.mmap(-1, 1)

    @property
    def is_put_off(self) -> bool:
        return self._is_put_off[0] == 1

    def do(self, node: Node) -> str | None:
        """Do the work, or defer it. Returns the secret of the operator's invitation, if any."""
        if node.is_cut_off:
            return None  # Left to other nodes, or to the next start.
        try:
            if node.is_prepared:
                return _complete(node)
        except WriterBusy:
            pass
        except StoreUnavailable as error:
            say.print(f"[yellow]Warning:[/] {escape(error.message)} Reads continue to work.")
            return None
        self._is_put_off[0] = 1
        say.print(f"[yellow]Warning:[/] {escape(_whom_to_wait_for(node))}")
        node.replica.stored_counts.show(node.store)
        return None

    def finish(self, node: Node) -> None:
        """In a thread of a worker: deferred work, unless another worker has done it."""
        log = structlog.get_logger("widget_catalog.start")
        try:
            # Waits for the lock; the first worker that gets it does the work.
            with node.store.writing():
                if not self.is_put_off:
                    return
                self._is_put_off[0] = 0
            node.replica.stored_counts.correct(node.store, waits=True)
            invitation = _complete(node)
        except StoreUnavailable as error:
            log.error("The startup could not be completed.", error=error.message)
            return
        if invitation is not None:
            greet_first(say, self._settings, invitation)


def warn_of_outage(sentence: str) -> None:
    say.print(
        f"[yellow]Warning:[/] {escape(sentence)} This node serves its last state, and "
        "catches up when the database responds again."
    )


def warn_of_settings(settings: Settings, file: Path | None = None) -> None:
    """Warn of settings that are valid, but hardly intended; `file` is the one given as a flag."""
    if (exposed := find_exposed_secrets(file)) is not None:
        say.print(f"[yellow]Warning:[/] {escape(exposed)}")
    for unknown in settings.unknown:
        say.print(f"[yellow]Warning:[/] Setting {escape(unknown)}")
    oldest = SemVer.parse(settings.of(CatalogSettings).min_cli_version)
    newest = SemVer.parse(CLI_LATEST)
    if oldest.sort_key > newest.sort_key:
        say.print(
            f"[yellow]Warning:[/] min_cli_version is {escape(oldest.text)}, and the newest release "
            f"of the authors' tool is {newest.text}: no release of it can publish."
        )


def _complete(node: Node) -> str | None:
    """What features have left to do; returns the secret of the operator's invitation, if any."""
    for feature in installed():
        feature.on_start(node.store, node.bundles, node.uploads)
    # Last, so that nothing that fails keeps it from being shown.
    invitations = [feature.invite_first(node.store) for feature in installed()]
    return next((it for it in invitations if it is not None), None)


def _whom_to_wait_for(node: Node) -> str:
    holder = find_holder(node.folder.writer_lock)
    who = "another process holds the writer lock" if holder is None else str(holder)
    end = ""
    # Not a running service: then this one would not start.
    if holder is not None and holder.program == _SERVE:
        end = f" It was left behind by a killed service: end it with kill -9 {holder.pid}."
    return (
        f"{who[0].upper()}{who[1:]}. Reads work; changes have to wait until it has finished.{end}"
    )


_REBUILT = "the read model was damaged and has been rebuilt."


def check_start(node: Node) -> list[str]:
    """Make sure that workers find a search index; returns what had to be repaired."""
    check_index(node.folder.replica, node.folder.search_index)
    return [] if node.is_replica_intact else [_REBUILT]


def greet(console: Console, settings: Settings, invitation: str | None) -> None:
    """Print the URLs; for machines as one log line.

    `invitation` is set while there is no account: it creates the operator's, once.
    """
    url = settings.public_url
    local_url = None if url == settings.local_url else settings.local_url
    first = _first_account(settings, invitation) if invitation else None
    cache_mb = choose_cache_bytes(settings) >> 20
    if settings.log_format == "json":
        log = structlog.get_logger("widget_catalog")
        more: dict[str, object] = {"cache_mb": cache_mb}
        more |= {"first_account": first} if first else {}
        more |= {"local_url": local_url} if local_url else {}
        log.info("The service is ready.", url=url, data=str(settings.data.resolve()), **more)
        return
    name, url = escape(settings.service_name), escape(url)
    console.print(f"\n[bold]{name}[/] is running at [bold cyan]{url}[/]")
    if local_url:
        console.print(f"  here   {escape(local_url)}, for your proxy or load balancer")
    console.print(f"  try    curl '{url}/api/v1/widgets/search?limit=3'")
    console.print(f"  read   {url}/docs/api")
    console.print(f"  data   {escape(str(settings.data.resolve()))}")
    console.print(f"  cache  {cache_mb} MB per worker")
    if first:
        _print_first(console, first)
    console.print("  stop   Ctrl-C\n")


def greet_first(console: Console, settings: Settings, invitation: str) -> None:
    """Print how to create the first account, if that was not possible at startup."""
    first = _first_account(settings, invitation)
    if settings.log_format == "json":
        log = structlog.get_logger("widget_catalog")
        log.info("The first account can be created.", first_account=first)
    else:
        _print_first(console, first)


def _first_account(settings: Settings, invitation: str) -> str:
    return f"{settings.public_url}/join?invitation={invitation}"


def _print_first(console: Console, first: str) -> None:
    console.print("  first  create the operator's account at")
    console.print(f"         {escape(first)}")


_CATALOG = Path(__file__).parent.parent / "demo" / "catalog.ndjson"
_SHARE = 0.3  # The share of all installs that falls on the days shown.
_WEEKEND = (2, 3)  # Days are numbered from 1 January 1970, a Thursday.


def is_empty(node: Node) -> bool:
    with node.store.reading() as connection:
        return count_widgets(connection) == 0


def add_examples(node: Node, settings: Settings) -> "ImportSummary":
    summary = import_file(node, _CATALOG, settings)
    today = today_of(node.store)
    with node.store.reading() as connection:
        names = {it.id: f"{it.widget.scope}/{it.widget.name}" for it in stream_widgets(connection)}
        totals = get_counts(connection, list(names))
    history = {
        (id_, day): count
        for id_, total in totals.items()
        for day, count in example_installs(names[id_], total, today).items()
    }
    with node.store.writing() as tx:
        add_installs(tx, history)
    with node.store.publishing() as tx:
        for feature in installed():
            feature.add_examples(tx)
    return summary


def example_installs(name: str, total: int, today: int) -> dict[int, int]:
    """Installs of a widget per day before today: fewer at weekends, more recently; for some, many
    more in the last two weeks. Deterministic, and their sum is less than `total`.
    """
    dice = random.Random(name)  # noqa: S311 - no secret depends on it.
    days = range(today - CHART_DAYS + 1, today)
    rise = dice.choice((1, 1, 1, 2.5))
    weights = [
        (0.5 if day % 7 in _WEEKEND else 1)
        * (1 + place / (4 * CHART_DAYS))
        * (rise if place > CHART_DAYS - 14 else 1)
        * dice.uniform(0.7, 1.3)
        for place, day in enumerate(days)
    ]
    share = _SHARE * total / sum(weights)
    counts = {day: int(share * weight) for day, weight in zip(days, weights, strict=True)}
    return {day: count for day, count in counts.items() if count}
