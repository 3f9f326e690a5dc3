"""The operator's command, `widget-catalog`. What each command does lives in `actions/`.

A command imports what it needs when it runs: `--help` must not wait for a second's imports.
"""

import contextlib
import os
import sqlite3
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.markup import escape

from . import release
from .commands.accounts import accounts, scopes
from .commands.audit import audit
from .commands.context import ConfigOption, DataOption, existing_node, fail, require_catalog, say
from .commands.widgets import versions, widgets
from .domain.errors import CatalogError, InvalidSettings, StoreUnavailable
from .settings import Settings, load_settings, passed_sockets

if TYPE_CHECKING:
    from .actions.import_catalog import ImportSummary
    from .wiring import Node

_DEMO_FOLDER = Path("data-demo")
_DEMO_CATALOG = Path(__file__).parent / "demo" / "catalog.ndjson"

app = typer.Typer(
    name="widget-catalog",
    help="Run and look after a Widget Catalog: a catalog of dashboard widgets.",
    epilog="Every option can also be set in the environment (WIDGET_CATALOG_PORT=9000) or in a "
    "TOML file (--config). Exit codes: 0 all well, 1 something is wrong, 2 wrong usage.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (accounts, scopes, widgets, versions):
    app.add_typer(group)
app.command()(audit)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(release.VERSION)  # noqa: T201
        raise typer.Exit


@app.callback()
def about(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print which release this is.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    pass


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on.", show_default="8080")
    ] = None,
    data: DataOption = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that answer.", show_default="1")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Fill an empty folder (data-demo) with example widgets.")
    ] = False,
    base_url: Annotated[
        str | None, typer.Option(help="The address people use, if a proxy stands in front.")
    ] = None,
    cdn_base_url: Annotated[
        str | None, typer.Option(help="Where bundles are fetched from, if a CDN serves them.")
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(help="console or json.", show_default="console")
    ] = None,
    access_log: Annotated[
        bool | None, typer.Option(help="Log a line a request.", show_default="off")
    ] = None,
    rate_limit: Annotated[
        str | None, typer.Option(help="E.g. 300/minute a client.", show_default="none")
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(help="Serve /metrics for Prometheus on this port.", show_default="off"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting (docs/settings.md)."),
    ] = None,
    config: ConfigOption = None,
) -> None:
    """Run the service. The first start makes the folder and the database by itself.

    Stop it with Ctrl-C or SIGTERM: requests in flight are finished, counts are kept. SIGHUP
    replaces the workers one by one, with the settings of that moment; no request is refused.
    """
    from .actions.create_account import invite_first_operator
    from .actions.tidy_uploads import tidy_uploads
    from .greeting import greet
    from .logs import configure_logs
    from .server import check_port
    from .server import serve as run_server
    from .wiring import prepare_node

    flags: dict[str, Any] = {
        "host": host, "port": port, "data": data, "workers": workers, "base_url": base_url,
        "cdn_base_url": cdn_base_url, "log_format": log_format, "access_log": access_log,
        "rate_limit": rate_limit, "metrics_port": metrics_port,
    }  # fmt: skip
    others = dict(_name_and_value(given) for given in set_ or [])
    defaults = {"data": _DEMO_FOLDER} if demo else None
    read_settings = partial(load_settings, flags, config, others, defaults=defaults)
    settings = read_settings()
    sockets = passed_sockets()
    if not sockets:
        check_port(settings.host, settings.port, "--port")
    if settings.metrics_port:
        check_port(settings.metrics_host, settings.metrics_port, "--metrics-port")
    node = prepare_node(settings.data)
    if demo and _is_empty(node):
        summary = _import(node, _DEMO_CATALOG, settings)
        folder = escape(str(settings.data))
        say.print(f"Put {summary.widgets_added} example widgets into {folder}.")
    invitation = None
    try:
        tidy_uploads(node.store, node.bundles, node.uploads)
        invitation = invite_first_operator(node.store)
    except StoreUnavailable as fault:
        say.print(f"[yellow]Warning:[/] {escape(fault.message)} What is there can be read.")
    node.store.close()
    configure_logs(settings.log_format, settings.log_level)
    run_server(
        settings,
        on_ready=lambda: greet(say, settings, invitation),
        read_settings=read_settings,
        passed_sockets=sockets,
    )


@app.command("import")
def import_(
    file: Annotated[
        str, typer.Argument(help="An NDJSON file, one widget a line; - for standard input.")
    ],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Add widgets from a file, all of them or none. The service may be running.

    What is there already is skipped; a published version that would change is an error.
    """
    from .greeting import counted
    from .wiring import make_index_ready, prepare_node

    settings = load_settings({"data": data}, config)
    source = None if file == "-" else Path(file)
    if source is not None and not source.exists():
        fail(f"There is no file {source}.")
    node = prepare_node(settings.data)
    summary = _import(node, source, settings)
    say.print(
        f"Added {counted(summary.widgets_added, 'widget')} and "
        f"{counted(summary.versions_added, 'version')} "
        f"({counted(summary.bundles_stored, 'bundle')} stored); "
        f"{counted(summary.versions_skipped, 'version')} already there."
    )
    with say.status("Making the search index ready …"):
        make_index_ready(node)


@app.command()
def export(
    file: Annotated[str, typer.Argument(help="Where to write; - for standard output.")],
    data: DataOption = None,
    bundles: Annotated[
        bool, typer.Option(help="Copy stored bundles beside the file, into bundles/.")
    ] = True,
    config: ConfigOption = None,
) -> None:
    """Write the whole catalog, one widget a line, as `import` reads it.

    To standard output, or with --no-bundles, stored bundles are named by their address.
    """
    from .actions.export_catalog import copied_to, export_catalog, linked_to
    from .greeting import counted
    from .progress import counting
    from .store.widgets import count_widgets

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    with node.store.reading() as connection:
        total = count_widgets(connection)
    if file == "-":
        for line in export_catalog(node.store, linked_to(settings.cdn_url)):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
        return
    target = Path(file)
    if target.is_dir():
        fail(f"{target} is a folder; name a file in it.")
    partial = target.with_name(f".{target.name}.part")
    files_of = copied_to(target.parent, node.bundles) if bundles else linked_to(settings.cdn_url)
    try:
        with partial.open("wb") as output, counting(say, "Exporting", total) as advance:
            for line in export_catalog(node.store, files_of):
                output.write(line)
                advance(1)
        partial.replace(target)
    except OSError as error:
        fail(f"{target} cannot be written: {error.strerror}.")
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    say.print(f"Wrote {counted(total, 'widget')} to {escape(str(target))}.")


@app.command()
def doctor(
    data: DataOption = None,
    clean: Annotated[bool, typer.Option("--clean", help="Remove files nobody refers to.")] = False,
    config: ConfigOption = None,
) -> None:
    """Check everything: database, every stored bundle, the read model. Exit code 1: not well.

    Whatever in the read model differs from the database is made anew. The service may run.
    """
    from .actions.check_catalog import check_catalog, remove_orphans
    from .greeting import counted
    from .progress import counting
    from .store.engine import check_file
    from .store.widgets import count_widgets
    from .wiring import DataFolder, check_writable, prepare_node

    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    check_writable(settings.data)
    if faults := check_file(DataFolder(settings.data).database):
        for fault in faults:
            say.print(f"[red]Fault:[/] {escape(fault)}")
        fail("The database is damaged. Restore it from a backup.")
    # Not drawn anew on the way in: what is wrong must be seen to be told.
    node = prepare_node(settings.data, draws_read_model=False)
    with node.store.reading() as connection:
        total = count_widgets(connection)
    with counting(say, "Checking", total) as advance:
        findings = check_catalog(node.store, node.bundles, node.projection, advance)
    say.print(
        f"Looked at {counted(findings.widgets, 'widget')} and "
        f"{counted(findings.bundles, 'stored bundle')}."
    )
    for fault in findings.faults:
        say.print(f"[red]Fault:[/] {escape(fault)}")
    if clean and findings.orphans:
        removed = remove_orphans(node.store, node.bundles)
        say.print(f"Removed {counted(len(removed), 'file')} nobody referred to.")
        findings.orphans.clear()
    for orphan in findings.orphans:
        say.print(f"[yellow]Orphan:[/] no version refers to {escape(orphan)}")
    if findings.orphans:
        say.print("An interrupted import leaves such files; remove them with doctor --clean.")
    if findings.documents_differed:
        say.print(
            f"[yellow]Mended:[/] {counted(findings.documents_differed, 'document')} of the read "
            "model differed from the database."
        )
    if not findings.is_healthy:
        raise typer.Exit(1)
    say.print("[green]All is well.[/]")


@app.command()
def stats(data: DataOption = None, config: ConfigOption = None) -> None:
    """Print the catalog's numbers as JSON, the same as /api/stats."""
    from .wiring import open_catalog

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    catalog = open_catalog(node, settings)
    print(catalog.stats().body.decode())  # noqa: T201


def run() -> None:
    """The entry point: errors that are ours are one sentence, not a stack trace."""
    os.umask(0o077)  # What we create is our user's alone, also in a folder that others can read.
    try:
        app()
    except InvalidSettings as error:
        for fault in error.faults:
            say.print(f"[red]Setting[/] {escape(fault)}")
        sys.exit(2)
    except CatalogError as error:
        fail(error.message)
    except sqlite3.Error as error:
        fail(f"The catalog's database cannot be read ({error}). Run doctor.")
    except BrokenPipeError:
        _leave_quietly()
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _leave_quietly()


def _leave_quietly() -> NoReturn:
    """The reader has gone, as `head` does. Nothing may be written to it once more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(1)


def _name_and_value(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise InvalidSettings([f"--set {text}: write NAME=VALUE."])
    return name.strip(), value


def _is_empty(node: "Node") -> bool:
    from .store.widgets import count_widgets

    with node.store.reading() as connection:
        return count_widgets(connection) == 0


def _import(node: "Node", file: Path | None, settings: Settings) -> "ImportSummary":
    from .actions.import_catalog import import_catalog
    from .progress import reading_lines

    with reading_lines(say, file) as (lines, advance):
        beside = Path.cwd() if file is None else file.parent
        return import_catalog(
            node.store, node.bundles, lines, beside, settings.max_bundle_bytes, advance
        )
