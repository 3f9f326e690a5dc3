"""Real S3 servers for a test run, from wheels: nothing has to be installed.

`rclone serve s3` verifies every signature, but has no conditional puts. `ministack` has them.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from support.service import free_port
from widget_catalog.core.files.s3_client import Bucket
from widget_catalog.core.settings import ObjectStore

BUCKET = "bundles"
KEY, SECRET = "a-key", "a-secret-that-nobody-may-read"
# Of this process, and of the services that it starts.
os.environ.update(AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET)
_FORMS = (".br", ".gz", ".zst")
_START_TIMEOUT_S = 60


def object_store(port: int, prefix: str = "") -> ObjectStore:
    endpoint = f"http://127.0.0.1:{port}"
    return ObjectStore(BUCKET, prefix, endpoint, "us-east-1", True)


def settings_of(port: int) -> dict[str, str]:
    """The settings of a node that stores its bundles there."""
    return {
        "bundles": f"s3://{BUCKET}/nodes",
        "s3_endpoint": f"http://127.0.0.1:{port}",
        "s3_region": "us-east-1",
        "s3_path_style": "true",
    }


@contextlib.contextmanager
def rclone(folder: Path, port: int | None = None) -> Iterator[int]:
    """The port of a server whose buckets are folders. It is killed at the end."""
    (folder / BUCKET).mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    command = [_program("rclone"), "serve", "s3", "--addr", f"127.0.0.1:{port}"]
    command += ["--auth-key", f"{KEY},{SECRET}", "--config", "", str(folder)]
    with _running(command, port):
        yield port


class ObjectStoreServer:
    """An `rclone` that can be down for a while: it is started, and stopped, any number of times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._running = contextlib.ExitStack()

    def start(self) -> None:
        self._running.enter_context(rclone(self.folder, self.port))

    def stop(self) -> None:
        self._running.close()

    def keys(self) -> list[str]:
        """Without compressed forms, which are made in the background."""
        return [it for it in self._all_keys() if not it.endswith(_FORMS)]

    def forms(self) -> list[str]:
        return [it for it in self._all_keys() if it.endswith(_FORMS)]

    def replace(self, stored: Path, content: bytes) -> None:
        """Replace the bytes of an object, at no time by none: rclone would remember the size."""
        new = self.folder / "new"
        new.write_bytes(content)
        new.replace(stored)

    def _all_keys(self) -> list[str]:
        top = self.folder / BUCKET / "nodes"
        return sorted(str(it.relative_to(top)) for it in top.rglob("*") if it.is_file())


@contextlib.contextmanager
def ministack() -> Iterator[int]:
    port = free_port()
    environment = {"GATEWAY_PORT": str(port)}
    with _running([_program("ministack")], port, environment):
        client = Bucket(object_store(port))._client
        client.create_bucket(Bucket=BUCKET)
        yield port


def _program(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent))
    assert found, f"{name} is not installed: run ./dev"
    return found


@contextlib.contextmanager
def _running(command: list[str], port: int, more: dict[str, str] | None = None) -> Iterator[None]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(more or {})},
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while True:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/", timeout=5)
                break
            assert process.poll() is None, "The S3 server ended at once."
            assert time.monotonic() < deadline, "The S3 server did not answer."
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()
