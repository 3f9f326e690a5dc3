"""HAProxy in front of nodes, with deploy/haproxy.cfg unchanged except for addresses."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from support.service import free_port, wait_until_it_responses

DEPLOYED = Path(__file__).parents[2] / "deploy" / "haproxy.cfg"
# What it says if no node responds.
NO_RESPONSE = "The catalog does not respond. Try again soon."


@contextlib.contextmanager
def haproxy_before(
    ports: Sequence[int], folder: Path, *, retries: bool = True, port: int | None = None
) -> Iterator[int]:
    """The port of a HAProxy that forwards requests to nodes at these ports. Its log is in the
    folder. Without `retries`, it sends every request once.
    """
    port = port or free_port()
    folder.mkdir()
    config = folder / "haproxy.cfg"
    config.write_text(configuration(ports, port, retries=retries))
    with (folder / "haproxy.log").open("wb") as log:
        process = subprocess.Popen(
            [program(), "-db", "-f", config],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_until_it_responses(process, port, "/")
        yield port
    finally:
        process.kill()
        process.wait(30)


def configuration(ports: Sequence[int], port: int, *, retries: bool = True) -> str:
    def servers(deployed: re.Match[str]) -> str:
        """One line per port, like the first of the lines."""
        name, options = deployed["name"], deployed["options"]
        lines = [
            f"    server {name}{one} 127.0.0.1:{one}{options.replace('node1', f'node{one}')}\n"
            for one in ports
        ]
        return "".join(lines)

    of_each_node = r"    server (?P<name>\w+)1 \w+:\d+(?P<options>.*)\n(    server (?P=name).*\n)+"
    named = re.sub(of_each_node, servers, DEPLOYED.read_text())
    listening = named.replace("    bind :8080\n", f"    bind 127.0.0.1:{port}\n")
    listening = listening.replace("127.0.0.1:8079", f"127.0.0.1:{free_port()}")
    if retries:
        return listening
    once = re.sub(r" +(option redispatch|retry-on) .*\n", "", listening)
    return re.sub(r"retries \d+", "retries 0", once)


def program() -> str:
    found = shutil.which("haproxy", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    assert found, "haproxy is not installed: run ./dev test, or apt install haproxy."
    return found
