"""A static file host: nginx, configured as documented."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from support.ending import EndingProcess

PAGE = Path(__file__).parents[2] / "docs" / "import-and-export.md"
_CONFIG = """
daemon off;
worker_processes 1;
pid "{state}/nginx.pid";
error_log "{state}/error.log";
{user}
events {{ worker_connections 256; }}
http {{
    access_log off;
    types {{
        text/html html;
        text/css css;
        text/javascript js;
        application/json json;
        application/atom+xml atom;
        application/xml xml;
        image/svg+xml svg;
        image/webp webp;
        text/plain txt;
    }}
    client_body_temp_path "{state}/body";
    proxy_temp_path "{state}/proxy";
    fastcgi_temp_path "{state}/fastcgi";
    uwsgi_temp_path "{state}/uwsgi";
    scgi_temp_path "{state}/scgi";
{server}
}}
"""
_STARTS_WITHIN_S = 60


def example(root: Path, port: int) -> str:
    """The server block of the documentation, for this folder and port."""
    blocks = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = [it for it in blocks if "/srv/widgets" in it]
    block = re.sub(r"listen [^;]+;", f"listen 127.0.0.1:{port};", str(block))
    return re.sub(r"server_name [^;]+;", "", block).replace("/srv/widgets", str(root))


@contextlib.contextmanager
def static_host(root: Path, port: int, state: Path) -> Iterator[str]:
    """Its URL. The folder may be filled later."""
    program = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    assert program is not None, "nginx is not installed: apt install nginx-light."
    state.mkdir()
    config = state / "nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    config.write_text(_CONFIG.format(state=state, user=user, server=example(root, port)))
    command = [program, "-c", str(config), "-p", str(state)]
    with EndingProcess[bytes](command) as process:
        _wait_for(port, process)
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _STARTS_WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError("nginx does not answer.")
