"""Builds deploy/Dockerfile with Buildah, starts the image, and checks that it is healthy.

Usage: ./dev image [--pull]

With --pull the base image that the file names is fetched from its registry. Without it, the base
is made of Debian's packages, which also works where no registry of images is reached.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from support.service import free_port

_ROOT = Path(__file__).parents[2]
_CACHE = _ROOT / ".cache" / "image"
_OF_PACKAGES = "localhost/python:of-debian-packages"
_CERTIFICATES = "/etc/ssl/certs"
_PROCESS_ID = "/tmp/process-id"
_START_TIMEOUT_S = 60


def main(arguments: list[str]) -> None:
    if arguments not in ([], ["--pull"]):
        sys.exit(__doc__)
    _CACHE.mkdir(parents=True, exist_ok=True)
    options = ["--network", "host", "--format", "docker"]
    if not arguments:
        options += ["--from", _base_of_packages()]
        # With the machine's certificates, which may be those of a proxy.
        options += ["--volume", f"{_CERTIFICATES}:{_CERTIFICATES}:ro"]
    print("Building deploy/Dockerfile …", flush=True)
    began = time.monotonic()
    with _committed_files() as context:
        _buildah("build", *options, "--file", f"{context}/deploy/Dockerfile", "-t", "it", context)
    print(f"Built in {time.monotonic() - began:.0f} s. Starting it …", flush=True)
    _start_and_check()


def _buildah(*arguments: str | Path) -> str:
    done = subprocess.run(_command(*arguments), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"buildah {arguments[0]} failed.")
    return done.stdout.strip()


def _command(*arguments: str | Path) -> list[str | Path]:
    stored = ("--root", _CACHE / "storage", "--runroot", _CACHE / "run")
    return ["buildah", *stored, "--storage-driver", "vfs", *arguments]


def _base_of_packages() -> str:
    """Debian 12 with its Python, which is 3.11."""
    if _buildah("images", "--quiet", "--filter", f"reference={_OF_PACKAGES}"):
        return _OF_PACKAGES
    print("Making a base image of Debian's packages (once) …", flush=True)
    with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
        root = Path(folder, "root")
        packages = "--include=python3,python3-venv,ca-certificates"
        subprocess.run(
            ["debootstrap", "--variant=minbase", packages, "bookworm", root],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        (root / "usr/bin/python").symlink_to("python3")
        container = _buildah("from", "scratch")
        _buildah("add", "--quiet", container, root, "/")
        _buildah("commit", "--quiet", "--rm", container, _OF_PACKAGES)
    return _OF_PACKAGES


@contextlib.contextmanager
def _committed_files() -> Iterator[Path]:
    """What a clone has, and so nothing of .venv or .cache. Uncommitted changes are included."""
    with tempfile.TemporaryDirectory(dir=_CACHE) as folder:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=_ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, names.stdout.split("\0")):
            copy = Path(folder, name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / name, copy, follow_symlinks=False)
        yield Path(folder)


def _start_and_check() -> None:
    container = _buildah("from", "it")
    port = free_port()
    setting = ("--env", f"WIDGET_CATALOG_PORT={port}", "--network", "host")
    # Stopped as Docker does it: `buildah run` would kill it.
    serve = f"echo $$ > {_PROCESS_ID} && exec widget-catalog serve"
    service = subprocess.Popen(_command("run", *setting, container, "--", "sh", "-c", serve))
    try:
        health = _wait_for_health(f"http://127.0.0.1:{port}", service)
        print(f"It is healthy: {health}")
        user = _buildah("run", container, "--", "id", "--user", "--name")
        assert user == "catalog", f"It runs as {user}."
        for path in ("/", "/docs", "/install"):
            status = httpx.get(f"http://127.0.0.1:{port}{path}").status_code
            assert status == 200, f"{path}: {status}"
        _buildah("run", container, "--", "sh", "-c", f"kill -TERM $(cat {_PROCESS_ID})")
        assert service.wait(60) == 0, "It did not stop by itself."
    finally:
        service.kill()
        _buildah("rm", container)
    print("The pages are there, it runs as the user catalog, and SIGTERM stops it.")


def _wait_for_health(address: str, service: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while time.monotonic() < deadline and service.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{address}/api/health").text
        time.sleep(0.2)
    sys.exit("It did not start.")


if __name__ == "__main__":
    os.environ["BUILDAH_ISOLATION"] = "chroot"  # Needs no further privileges than root's.
    main(sys.argv[1:])
