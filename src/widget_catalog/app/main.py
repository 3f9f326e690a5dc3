"""The operator's command, `widget-catalog`, and its subcommand `serve`. The others are those of
features.

A command imports what it needs when it runs, so that `--help` is fast; `--version` is handled by
`__main__.py`, before this is loaded.
"""

import contextlib
import errno
import os
import socket
import sqlite3
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.markup import escape

from widget_contract.errors import CatalogError

from ..catalog.node.context import WHERE, ConfigOption, DataOption, fail, report, say
from ..core import release
from ..core.commands import HELP_OPTIONS, build_command, examples, register
from ..core.errors import BackendDown, BundlesDown, DatabaseReadOnly, InvalidImport, InvalidSettings
from ..core.load_settings import load_settings, passed_sockets
from ..core.settings import Settings
from .features import FEATURES, install_features

if TYPE_CHECKING:
    from ..catalog.node.node import Node

_OUTPUT_ERRORS = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CATALOG = "Catalog data"

_DEMO_FOLDER = Path("data-demo")


def _setting(panel: str, metavar: str | None, about: str, default: str | bool = True) -> Any:
    """An option of `serve` for a setting, with the default to show."""
    return typer.Option(metavar=metavar, help=about, show_default=default, rich_help_panel=panel)


_addresses = partial(_setting, "Addresses")
_running = partial(_setting, "Workers, logs and metrics")

app = typer.Typer(
    name="widget-catalog",
    help="Run and manage a Widget Catalog: a catalog of dashboard widgets.",
    epilog="Settings can also be set in the environment (WIDGET_CATALOG_PORT=9000) or in a TOML "
    "file (--config).\n\nExit codes: 0 success, 1 failure or problems found, 2 usage error.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": HELP_OPTIONS},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(release.VERSION)  # noqa: T201
        raise typer.Exit


@app.callback()
def about(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    pass


@app.command(
    rich_help_panel=_CATALOG,
    epilog=examples(
        "serve --demo",
        "serve --data /var/lib/catalog --base-url https://catalog.example --workers 4",
        "serve --set registration=open",
    ),
)
def serve(
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Add example widgets if the data folder is empty. The default of --data "
            "is then data-demo.",
        ),
    ] = False,
    new_database: Annotated[
        bool,
        typer.Option(
            "--new-database",
            help="Start with an empty catalog although the folder has bundles but no database.",
        ),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any other setting (see docs/settings.md); repeatable.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    allow_unknown_settings: Annotated[
        bool | None,
        typer.Option(
            "--allow-unknown-settings",
            help="Only warn of settings that this release does not have.",
            rich_help_panel=WHERE,
        ),
    ] = None,
    host: Annotated[str | None, _addresses("ADDRESS", "Address to listen on.", "127.0.0.1")] = None,
    port: Annotated[int | None, _addresses("PORT", "Port to listen on.", "8080")] = None,
    base_url: Annotated[str | None, _addresses("URL", "Public URL, if behind a proxy.")] = None,
    cdn_base_url: Annotated[
        str | None, _addresses("URL", "Base URL of bundles, if a CDN serves them.")
    ] = None,
    workers: Annotated[int | None, _running("N", "Number of worker processes.", "1")] = None,
    rate_limit: Annotated[
        str | None, _running("LIMIT", "Requests per client, such as 300/minute.", "none")
    ] = None,
    log_format: Annotated[
        str | None, _running("console|json", "Log format: text or JSON.", "console")
    ] = None,
    access_log: Annotated[
        bool | None, _running(None, "Log every request.", "no-access-log")
    ] = None,
    metrics_port: Annotated[
        int | None, _running("PORT", "Serve /metrics for Prometheus on this port.", "off")
    ] = None,
) -> None:
    """Run the service. The first start creates the folder and the database.

    Stop it with Ctrl-C or SIGTERM: requests in flight are finished, and no download count is lost.
    SIGHUP replaces the workers one by one with the current settings, without downtime.
    """
    flags: dict[str, Any] = {
        "host": host, "port": port, "data": data, "workers": workers, "base_url": base_url,
        "cdn_base_url": cdn_base_url, "log_format": log_format, "access_log": access_log,
        "rate_limit": rate_limit, "metrics_port": metrics_port,
        "allow_unknown_settings": allow_unknown_settings,
    }  # fmt: skip
    others = dict(_name_and_value(given) for given in set_ or [])
    sockets = passed_sockets()
    if sockets:  # Whoever opened them has decided where the service listens.
        flags["host"], flags["port"] = sockets[0].getsockname()[:2]
    defaults = {"data": _DEMO_FOLDER, "dashboard": True} if demo else None
    read_settings = partial(load_settings, flags, config, others, defaults=defaults)
    _serve(read_settings, sockets, config, is_demo=demo, may_begin_anew=new_database)


def _serve(
    read_settings: Callable[[], Settings],
    sockets: Sequence[socket.socket],
    config: Path | None,
    *,
    is_demo: bool,
    may_begin_anew: bool,
) -> None:
    from ..core.logs import configure_logs
    from . import start
    from .server import serve as run_server

    settings = read_settings()
    _claim(settings, sockets, may_begin_anew=may_begin_anew)
    node = _prepare(settings, may_begin_anew=may_begin_anew)
    start.warn_of_settings(settings, config)
    for sentence in start.check_start(node):
        say.print(f"[yellow]Repaired:[/] {escape(sentence)}")
    if is_demo and start.is_empty(node):
        _add_examples(node, settings)
    work = start.StartWork(settings)
    invitation = work.do(node)
    node.store.close()
    configure_logs(settings.log_format, settings.log_level)
    run_server(
        settings,
        on_ready=lambda: start.greet(say, settings, invitation),
        read_settings=read_settings,
        passed_sockets=sockets,
        finish_start=work.finish if work.is_put_off else None,
    )


def _claim(settings: Settings, sockets: Sequence[socket.socket], *, may_begin_anew: bool) -> None:
    """Take the folder, and make sure of the addresses, before the database is touched: another
    service, of another release, may be using it.
    """
    from ..catalog.node.opening import make_folder, require_no_loss
    from ..core import clock
    from ..core.data_folder import DataFolder, ServiceLock
    from .server import check_port

    if len(sockets) > settings.workers:
        raise InvalidSettings(
            [f"workers: must be at least {len(sockets)}, one for each socket that was passed."]
        )
    folder = DataFolder(settings.data)
    lock = ServiceLock(folder.path, folder.service_lock)
    lock.check()
    if not sockets:
        check_port(settings.host, settings.port, "--port")
    if settings.metrics_port:
        check_port(settings.metrics_host, settings.metrics_port, "--metrics-port")
    if not (may_begin_anew or settings.database):
        require_no_loss(folder)
    make_folder(folder)
    lock.acquire(settings.public_url, clock.iso(clock.now()))


def _prepare(settings: Settings, *, may_begin_anew: bool) -> "Node":
    from ..catalog.node.node import prepare_node
    from ..core.progress import counting
    from .start import warn_of_outage

    return prepare_node(
        settings.data,
        backends=settings.backends,
        checks_replica=True,
        bar=partial(counting, say, "Building the read model"),
        may_begin_anew=may_begin_anew,
        on_wait=report,
        on_outage=warn_of_outage,
    )


def _add_examples(node: "Node", settings: Settings) -> None:
    from .start import add_examples

    place = escape(str(settings.data))
    say.print("Adding the example widgets …")
    try:
        summary = add_examples(node, settings)
    except InvalidImport as error:
        fail(f"Cannot add the example widgets to {place}. {error.message}")
    say.print(f"Added {summary.widgets_added} example widgets to {place}.")


for _feature in FEATURES:
    for _command in _feature.commands:
        register(app, _command)


def run() -> None:
    """The entry point: expected errors are printed as one sentence, without a stack trace."""
    install_features()
    # New files are accessible to our user only, even in a folder that others can read.
    os.umask(0o077)
    if sys.stdout is None:  # Closed by the caller: the result is discarded.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        build_command(app)()
    except InvalidSettings as error:
        for problem in error.errors:
            say.print(f"[red]Setting[/] {escape(problem)}")
        sys.exit(2)
    except BackendDown as error:
        what = "bundles" if isinstance(error, BundlesDown) else "database"
        if isinstance(error, DatabaseReadOnly):
            fail(f"The database is read-only, like a standby: {error.reason}")
        fail(f"The {what} cannot be used: {error.reason}")
    except CatalogError as error:
        fail(error.message)
    except sqlite3.Error as error:
        fail(f"Cannot read the catalog's database ({error}). Run: widget-catalog doctor")
    except OSError as error:
        _end_output(error)
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:
            _end_output(error)


def _end_output(error: OSError) -> NoReturn:
    """Standard output cannot be written: errors of other files are handled where they occur."""
    if error.errno not in _OUTPUT_ERRORS:
        raise error
    # Nothing may be written to it at exit.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:  # The reader has read enough, as `head` does.
        sys.exit(1)
    fail(f"{error.filename or 'The output'} cannot be written: {error.strerror}.")


def _name_and_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidSettings([f"--set {text}: write NAME=VALUE."])
    return name.strip(), value
