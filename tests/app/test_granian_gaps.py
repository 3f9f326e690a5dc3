"""The gaps of the server that `app/granian_gaps.py` makes up for. A test that fails here means that
one is closed: use what the server offers now, and remove what made up for it.
"""

import inspect
import re
import select
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from granian import Granian
from granian._granian import RSGIWorker

from support.service import free_port

_STREAMED_MB = 64
_STREAM = """
import sys
from granian import Granian

async def app(scope, protocol):
    transport = protocol.response_stream(200, [])
    for _ in range({megabytes}):
        await transport.send_bytes(bytes(1 << 20))
    print("all taken", flush=True)

if __name__ == "__main__":
    Granian("stream:app", port=int(sys.argv[1]), interface="rsgi", log_enabled=False).serve()
"""


def test_no_option_takes_open_sockets() -> None:
    options = inspect.signature(Granian.__init__).parameters

    assert "port" in options
    assert not [it for it in options if re.search(r"(?<!web)sock|fd|listen", it)]


def test_a_former_worker_is_stopped_although_its_successor_is_not_ready() -> None:
    stopped: list[int] = []

    class Worker:
        def __init__(self, number: int) -> None:
            self.number = number

        def start(self) -> None: ...
        def join(self, _timeout: float | None) -> None: ...
        def is_alive(self) -> bool:
            return True

        def terminate(self) -> None:
            stopped.append(self.number)

    class Server(Granian):  # type: ignore[misc,valid-type]
        def _spawn_worker(self, **_: Any) -> Worker:
            return Worker(2)

    server = Server("nothing:app")
    server.wrks = [Worker(1)]
    server._respawn_workers([0], None, None)

    assert stopped == [1]


def test_a_worker_can_only_serve_and_not_stop_accepting() -> None:
    offered = [it for it in dir(RSGIWorker) if not it.startswith("_")]

    assert "serve_mtr" in offered
    assert not [it for it in offered if not it.startswith("serve_")]


def test_a_stream_is_taken_whole_although_its_client_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / "stream.py").write_text(_STREAM.format(megabytes=_STREAMED_MB))
    port = free_port()
    command = [sys.executable, "stream.py", str(port)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as server:
        try:
            with _connected(port) as client:
                client.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
                assert server.stdout is not None
                readable, _, _ = select.select([server.stdout], [], [], 60)

                assert readable, "The stream has backpressure now."
                assert server.stdout.readline() == b"all taken\n"
        finally:
            server.terminate()


def _connected(port: int) -> socket.socket:
    until = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
