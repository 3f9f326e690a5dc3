"""`widget-catalog`, and `python -m widget_catalog`."""

import sys

from .app.collector import raise_gc_threshold
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


if __name__ == "__main__":
    run()
