"""`widget-catalog`, and `python -m widget_catalog`."""

import gc
import sys

from .core.release import VERSION


def run() -> None:
    """The entry point. `--version` is handled without importing anything else."""
    if sys.argv[1:] == ["--version"]:
        try:
            sys.stdout.write(f"{VERSION}\n")
            sys.stdout.flush()
        except (OSError, AttributeError):
            pass  # Standard output is unusable: main.py handles that.
        else:
            return
    raise_gc_threshold()
    try:
        from .app.main import run as run_command

        run_command()
    except KeyboardInterrupt:  # Ctrl-C while the modules are loaded.
        sys.exit(130)


def raise_gc_threshold() -> None:
    """A start creates some hundred thousand objects that live as long as the process: modules,
    classes, tables. With the default threshold, scanning them repeatedly is a tenth of the start.
    """
    gc.set_threshold(100_000)


if __name__ == "__main__":
    run()
