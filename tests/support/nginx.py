"""nginx in front of nodes, with deploy/nginx.conf unchanged except for addresses."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from support.service import free_port, wait_until_it_responses

_DEPLOYED = Path(__file__).parents[2] / "deploy" / "nginx.conf"


@contextlib.contextmanager
def nginx_before(ports: Sequence[int], folder: Path) -> Iterator[int]:
    """The port of an nginx that forwards requests to nodes at these ports."""
    port = free_port()
    folder.mkdir()
    config = folder / "nginx.conf"
    config.write_text(_config(ports, port, folder))
    process = subprocess.Popen(
        [nginx_program(), "-p", folder, "-c", config, "-e", folder / "error.log"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until_it_responses(process, port, "/")
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _config(ports: Sequence[int], port: int, folder: Path) -> str:
    deployed = _DEPLOYED.read_text()
    named = re.sub(r"( +server \w+:\d+ .*;\n)+", lambda it: _servers(it[0], ports), deployed)
    listening = re.sub(r"listen \d+;", f"listen 127.0.0.1:{port};", named)
    places = [f"{it}_temp_path {folder}/{it};" for it in _TEMPORARY]
    inside = "\n".join(["http {", "access_log off;", *places])
    user = "user root;" if os.geteuid() == 0 else ""
    head = f"daemon off;\n{user}\nworker_processes 1;\npid {folder}/nginx.pid;\n"
    return head + listening.replace("http {", inside, 1)


def _servers(lines: str, ports: Sequence[int]) -> str:
    [parameters] = set(re.findall(r"server \w+:\d+ (.*);", lines))
    return "".join(f"server 127.0.0.1:{it} {parameters};\n" for it in ports)


_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def nginx_program() -> str:
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    assert found, "nginx is not installed: run ./dev test, or apt install nginx-light."
    return found
