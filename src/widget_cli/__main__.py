"""`widget`, and `python -m widget_cli`."""

import sys

from . import VERSION


def run() -> None:
    """The entry point. `--version` loads nothing else."""
    if sys.argv[1:] == ["--version"]:
        try:
            sys.stdout.write(f"{VERSION}\n")
            sys.stdout.flush()
        except (OSError, AttributeError):
            pass  # Standard output is unusable: main.py handles that.
        else:
            return
    try:
        from .main import run as run_command

        run_command()
    except KeyboardInterrupt:  # Ctrl-C while the modules are loaded.
        sys.exit(130)


if __name__ == "__main__":
    run()
