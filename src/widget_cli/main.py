"""The authors' command, `widget`. The commands are in `commands/`."""

import errno
import os
import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer

from widget_contract.errors import CatalogError

from . import VERSION, commands
from .console import show_error
from .errors import ExitCode, ToolError
from .options import App

_OUTPUT_ERRORS = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

app = App(
    name="widget",
    help="Create, check and publish dashboard widgets.",
    epilog="In scripts, set WIDGET_CATALOG_URL and WIDGET_TOKEN, and use --json to print a JSON "
    "document. Exit codes: " + ", ".join(f"{it.value} {it.meaning}" for it in ExitCode) + ".",
    add_completion=False,
    pretty_exceptions_enable=False,
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
            "--version", help="Show the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    pass


# Every file in `commands/` registers its own: these first, in the order of the help.
_FIRST = (
    "developing",
    "picturing",
    "publishing",
    "migrating",
    "managing",
    "searching",
    "account",
    "tokens",
)
for _name in dict.fromkeys((*_FIRST, *(it.name for it in iter_modules(commands.__path__)))):
    import_module(f"{commands.__name__}.{_name}").register(app)


def run() -> None:
    """The entry point: every error is a message and an exit code, never a stack trace."""
    if sys.stdout is None:  # Closed by the caller: discard the result.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdout, sys.stderr):
        # Characters that the terminal cannot encode are replaced with question marks.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        code = _run_app()
        sys.stdout.flush()  # Here, so that an error can still be reported.
    except OSError as error:
        if not _is_of_output(error):
            raise
        code = ExitCode.FAILED
        # Avoid another error when Python flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:  # A reader that closes the pipe has read enough.
            sentence = f"Cannot write to standard output: {error.strerror}."
            show_error(ToolError(sentence, "Free some space, or redirect the output elsewhere."))
    sys.exit(code)


def _run_app() -> int:
    """Run the command and return its exit code. Output errors are raised."""
    try:
        app(prog_name=app.info.name)  # Also if it runs as a module, as with npm.
    except SystemExit as done:
        return int(done.code or 0)
    except ToolError as error:
        show_error(error)
        return error.exit_code
    except CatalogError as error:
        show_error(ToolError(error.message, "Correct that, then try again."))
    except Exception as error:
        if os.environ.get("WIDGET_DEBUG") or _is_of_output(error):
            raise
        sentence = f"Internal error: {type(error).__name__}: {error}"
        hint = "Please report it with the command you ran. WIDGET_DEBUG=1 prints a stack trace."
        show_error(ToolError(sentence, hint))
    return ExitCode.FAILED


def _is_of_output(error: Exception) -> bool:
    """Whether writing the result failed. Errors of other files are already reported."""
    return isinstance(error, OSError) and error.errno in _OUTPUT_ERRORS
