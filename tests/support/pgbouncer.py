"""A real PgBouncer in front of the database of a test, if the package is installed."""

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict

from support.nodes import relay_to
from support.service import free_port, wait_for

# Debian installs it for administrators.
PGBOUNCER = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
# It refuses to run as root.
_AS_NOBODY = ("-u", "nobody") if os.getuid() == 0 else ()


@contextlib.contextmanager
def pgbouncer(folder: Path, database: str, mode: str) -> Iterator[str]:
    """The address of the same database through a pooler in this mode."""
    assert PGBOUNCER is not None
    given, port = conninfo_to_dict(database), free_port()
    user, file = str(given.get("user", "postgres")), folder / "pgbouncer.ini"
    # Through a relay, because its user may not use a socket in the folder of the test.
    with relay_to(database) as relay, (folder / "pgbouncer.log").open("wb") as log:
        file.write_text(
            f"[databases]\n* = host=127.0.0.1 port={relay.port} user={user}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
            f"auth_type = any\npool_mode = {mode}\n"
        )
        process = subprocess.Popen([PGBOUNCER, *_AS_NOBODY, file], stderr=log)
        try:
            wait_for(lambda: _accepts(port), 20)
            yield sa.URL.create(
                "postgresql", user, None, "127.0.0.1", port, str(given["dbname"])
            ).render_as_string(hide_password=False)
        finally:
            process.terminate()
            process.wait(20)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
