"""The authors' command, `widget`. What each command does lives in `commands/`."""

import os
import sys
from typing import Annotated

import typer

from .commands import account, looking, making, managing, organizations, publishing, tokens
from .console import show_error
from .domain.errors import CatalogError
from .errors import ToolError
from .exits import ExitCode
from .release import VERSION

app = typer.Typer(
    name="widget",
    help="Make, check and publish dashboard widgets.",
    epilog="For machines: WIDGET_CATALOG_URL names the catalog, WIDGET_TOKEN signs in, and --json "
    "prints a document. Exit codes: "
    + ", ".join(f"{it.value} {it.meaning}" for it in ExitCode)
    + ".",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(VERSION)
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


making.register(app)
publishing.register(app)
managing.register(app)
looking.register(app)
account.register(app)
app.add_typer(tokens.app, name="tokens", rich_help_panel="Account")
app.add_typer(organizations.app, name="org", rich_help_panel="Account")


def run() -> None:
    """The entry point: every failure is a sentence and an exit code, never a stack trace."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows a question mark, and nothing breaks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app()
    except ToolError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except CatalogError as error:
        show_error(ToolError(error.message, "Correct that, then try again."))
        sys.exit(ExitCode.FAILED)
    except BrokenPipeError:
        # Whoever read along has enough. Python must not complain of it at its end, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(ExitCode.FAILED)
    except Exception as error:
        if os.environ.get("WIDGET_DEBUG"):
            raise
        sentence = f"The tool itself has a fault: {type(error).__name__}: {error}"
        hint = "Please report it with what you did; WIDGET_DEBUG=1 shows where it is."
        show_error(ToolError(sentence, hint))
        sys.exit(ExitCode.FAILED)
