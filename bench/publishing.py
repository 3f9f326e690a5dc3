"""Scenarios of publishing: its cost, and its effect on readers."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

import httpx

from .client import request
from .folders import copy_of, ensure_folder
from .load import run_wrk, write_requests
from .machine import cpu_seconds_of
from .measures import BenchError, Outcome, at_least, at_most, median_ratio, percentile
from .reading import SIZE
from .rig import Rig
from .servers import Server, catalog_command, clean_environment, running_catalog
from .traffic import detail_targets

AUTHORS_FOLDER = "published"

_MEGABYTE = 1_000_000
_PUBLISHES = 40
_A_SECOND = 5
_NAME, _PASSWORD = "author", "a password for the bench"


def publish(rig: Rig) -> list[Outcome]:
    """One author, one version after another: the three requests, and what the server did."""
    with running_with_author(rig) as (catalog, author):
        author.publish()
        before = cpu_seconds_of(catalog.worker_pids())
        times_ms = [author.publish() for _ in range(_PUBLISHES)]
        core_ms = (cpu_seconds_of(catalog.worker_pids()) - before) / _PUBLISHES * 1000
    began = time.perf_counter()
    hashlib.sha256(author.bundle).hexdigest()
    hash_ms = (time.perf_counter() - began) * 1000
    notes = [
        f"p99 {percentile(times_ms, 0.99):.1f} ms; on the server's core {core_ms:.1f} ms",
        f"request, upload and confirm together; a hash of the bytes takes {hash_ms:.1f} ms",
    ]
    what = "publish a bundle of 1 MB, from the request to the confirmation"
    figures = {"core_ms": core_ms, "hash_ms": hash_ms}
    return [Outcome(what, median(times_ms), "ms", at_most(150), notes, figures)]


def detail_publishing(rig: Rig) -> list[Outcome]:
    """Details while an author publishes, compared with details while nobody does, in turns."""
    targets = [request(target) for target in detail_targets(SIZE, SIZE)]
    file = write_requests(rig.folder / "requests-publishing", targets)
    quiet, busy, published = [], [], 0
    with running_with_author(rig) as (catalog, author):
        run_wrk(rig, catalog, file, rig.options.seconds)
        for _ in range(rig.options.rounds):
            quiet.append(run_wrk(rig, catalog, file, rig.options.seconds).rate)
            with author.publishing(rig.cores.client) as count:
                busy.append(run_wrk(rig, catalog, file, rig.options.seconds).rate)
            published += count()
    seconds = rig.options.rounds * rig.options.seconds
    notes = [
        f"{median(busy):,.0f}/s beside {median(quiet):,.0f}/s",
        f"{published / seconds:.1f} publishes of 1 MB a second meanwhile, by the same worker",
    ]
    what = f"detail, {SIZE:,} widgets, while an author publishes"
    ratio = median_ratio(busy, quiet)
    return [Outcome(what, ratio, "of quiet", at_least(0.80), notes)]


class Author:
    def __init__(self, catalog: Server, name: str = _NAME, bundle_bytes: int = _MEGABYTE) -> None:
        self.bundle = os.urandom(bundle_bytes // 2).hex().encode()
        self._name = name
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{catalog.port}", timeout=30)
        session = self._ask("/api/auth/sign-in", {"username": name, "password": _PASSWORD})
        self._client.headers["x-csrf-token"] = session["csrfToken"]
        self._count = 0

    @property
    def latest(self) -> str:
        """The version that was published last."""
        return f"1.{self._count}.0"

    def close(self) -> None:
        self._client.close()

    def publish(self) -> float:
        """Publish another version; gives the milliseconds it took."""
        self._count += 1
        js = self.bundle + b"\n// %d" % self._count
        manifest = {
            "name": "bench",
            "version": self.latest,
            "displayName": "Bench",
            "minSize": {"w": 1, "h": 1},
            "maxSize": {"w": 1, "h": 1},
            "sdkVersion": "^1.0.0",
        }
        body = {
            **manifest,
            "action": "request",
            "scope": self._name,
            "bundleSize": len(js),
            "sha256Hash": hashlib.sha256(js).hexdigest(),
            "manifestJson": json.dumps(manifest),
        }
        began = time.perf_counter()
        requested = self._ask("/api/widgets/publish", body)
        uploaded = self._client.put(requested["uploadUrl"], content=js)
        if uploaded.status_code != 200:
            raise BenchError(f"An upload was answered {uploaded.status_code}.")
        confirm = {"action": "confirm", "versionId": requested["versionId"]}
        self._ask("/api/widgets/publish", confirm)
        return (time.perf_counter() - began) * 1000

    @contextlib.contextmanager
    def publishing(self, core: int | None) -> Iterator["_Counting"]:
        """Inside, versions are published at this rate per second, from this core."""
        counting = _Counting(self, core)
        counting.start()
        try:
            yield counting
        finally:
            counting.stop()

    def _ask(self, path: str, body: Mapping[str, object]) -> dict[str, str]:
        response = self._client.post(path, json=body)
        if response.status_code != 200:
            raise BenchError(f"{path} was answered {response.status_code}: {response.text}")
        found: dict[str, str] = response.json()
        return found


class _Counting:
    """Publishes in a thread; called, it says how many versions it has published."""

    def __init__(self, author: Author, core: int | None) -> None:
        self._author = author
        self._core = core
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._published = 0
        self._error: BenchError | None = None

    def __call__(self) -> int:
        return self._published

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        if self._core is not None:
            # This thread only: the server has the other core.
            os.sched_setaffinity(0, {self._core})
        while not self._ended.is_set():
            try:
                took_ms = self._author.publish()
            except BenchError as error:
                self._error = error
                return
            self._published += 1
            self._ended.wait(max(0.0, 1 / _A_SECOND - took_ms / 1000))


@contextlib.contextmanager
def running_with_author(rig: Rig) -> Iterator[tuple[Server, Author]]:
    """A separate catalog with one author."""
    data = copy_of(ensure_folder(SIZE), rig.folder / AUTHORS_FOLDER)
    make_account(_NAME, data, clean_environment())
    with running_catalog(rig, data) as catalog:
        author = Author(catalog)
        try:
            yield catalog, author
        finally:
            author.close()
    shutil.rmtree(data)


def make_account(name: str, data: Path, environment: Mapping[str, str]) -> None:
    command = catalog_command("account", "create", name, "--email", f"{name}@example.org")
    made = subprocess.run(
        # An operator, who has no quotas.
        [*command, "--operator", "--password-stdin", "--data", str(data)],
        input=_PASSWORD.encode(),
        capture_output=True,
        env=dict(environment),
    )
    if made.returncode:
        raise BenchError(f"widget-catalog account create failed: {made.stderr.decode().strip()}")
