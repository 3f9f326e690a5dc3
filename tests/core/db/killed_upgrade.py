"""Opens a data folder, and kills itself after this many writing statements, or at the commit after
them. Prints their number if it completes.

    python -m core.db.killed_upgrade FOLDER MIGRATIONS STATEMENTS statement|commit
"""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from core.db.next_migration import use_migrations
from widget_catalog.catalog.node.node import prepare_node


def run() -> None:
    folder, last, when = Path(sys.argv[1]), int(sys.argv[3]), sys.argv[4]
    use_migrations(Path(sys.argv[2]))
    done = 0

    @sa.event.listens_for(sa.Engine, "after_cursor_execute")
    def after(connection: sa.Connection, *_: Any) -> None:
        nonlocal done
        done += _is_writing(connection)
        if done == last and when == "statement":
            _die()

    @sa.event.listens_for(sa.Engine, "commit")
    def commit(connection: sa.Connection) -> None:
        if done >= last and when == "commit" and _is_writing(connection):
            _die()

    prepare_node(folder)
    print(done)


def _is_writing(connection: sa.Connection) -> bool:
    return bool(connection.get_execution_options().get("writing", False))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    run()
