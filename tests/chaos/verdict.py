"""Afterwards: is everything there that was acknowledged, and nothing unexplained?"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from chaos.ledger import Ledger, Release
from chaos.stage import Stage
from support.service import run_command

# The expected files of a data folder; doctor checks the bundles.
_EXPLAINED = (
    r"catalog\.db(-wal|-shm)?",
    r"second-factor\.key",
    r"bundles/[0-9a-f]{2}/[0-9a-f]{62}\.(js|css)(\.(br|zst|gz))?",
    r"replica/current",
    r"run/(revision|counts|encoded|index|keys|\w+\.lock)",
    r"run/replica\.rebuild",
    r"run/metrics(/.*)?",
)


def judge(stage: Stage, ledger: Ledger) -> None:
    """Start the service once more, and check everything."""
    if stage.service.stop(60) != 0:
        ledger.violated("the last service did not stop cleanly")
    for pid in _unknown_processes(stage):
        ledger.violated(f"process {pid} was left behind")
    stage.service = stage.start()
    with stage.service.client() as client:
        judge_releases(client, ledger)
        judge_counts(client, ledger)
        _judge_imports(client, ledger)
        health = client.get("/api/health").json()
        if health["status"] != "ok":
            ledger.violated(f"health says {health}")
    for error in _errors_of_doctor(stage):
        ledger.violated(f"doctor: {error}")
    stage.service.stop(60)
    for path in _unexplained(stage.data):
        ledger.violated(f"nobody can explain the file {path}")
    if "Traceback" in stage.service.log:
        ledger.violated("a stack trace is in the service's log")


def judge_releases(client: httpx.Client, ledger: Ledger, *, is_order_strict: bool = True) -> None:
    """`is_order_strict`: an unacknowledged version is published immediately, or never."""
    for key in sorted({it.key for it in ledger.releases}):
        attempted = ledger.releases_of(key)
        response = client.get(f"/api/v1/widgets/{key}")
        if response.status_code == 404:
            if any(it.is_acknowledged and not it.is_yank_attempted for it in attempted):
                ledger.violated(f"{key} is not there")
            continue
        shown = {entry["version"]: entry for entry in response.json()["versions"]}
        for release in attempted:
            entry = shown.pop(release.version, None)
            if entry is not None:
                _judge_release(client, release, entry, ledger)
            elif release.is_acknowledged:
                ledger.violated(f"{key} {release.version} was acknowledged and is not there")
        for version in shown:
            ledger.violated(f"{key} {version} is there, and nobody published it")
        if not is_order_strict:
            attempted = [it for it in attempted if it.is_acknowledged]
        _judge_order(key, attempted, response.json()["versions"], ledger)


def _judge_release(
    client: httpx.Client, release: Release, entry: dict[str, Any], ledger: Ledger
) -> None:
    what = f"{release.key} {release.version}"
    bundle = client.get(httpx.URL(entry["bundleUrl"]).path)
    if bundle.status_code != 200:
        ledger.violated(f"the bundle of {what} gives {bundle.status_code}")
    elif hashlib.sha256(bundle.content).hexdigest() != release.sha256_hash:
        ledger.violated(f"the bundle of {what} is not the one that was sent")
    if entry["sha256Hash"] != release.sha256_hash:
        ledger.violated(f"the hash of {what} is another one")
    if release.is_yank_acknowledged and not entry["yanked"]:
        ledger.violated(f"{what} was yanked and is offered again")
    if entry["yanked"] and not release.is_yank_attempted:
        ledger.violated(f"{what} is yanked, and nobody asked for it")


def _judge_order(
    key: str, attempted: list[Release], shown: list[dict[str, Any]], ledger: Ledger
) -> None:
    """Whatever the clock was: later versions are newer."""
    order = [it.version for it in attempted]
    found = [entry["version"] for entry in reversed(shown) if entry["version"] in set(order)]
    if found != [version for version in order if version in set(found)]:
        ledger.violated(f"the versions of {key} are not in the order of their publication")


def judge_counts(client: httpx.Client, ledger: Ledger) -> None:
    for key, attempted in ledger.counts_attempted.items():
        response = client.get(f"/api/v1/widgets/{key}")
        if response.status_code != 200:
            ledger.violated(f"GET {key} gives {response.status_code}: {response.text[:200]}")
            continue
        counted = response.json()["widget"]["downloadCount"]
        if not ledger.counts_acknowledged[key] <= counted <= attempted:
            ledger.violated(
                f"{key}: {counted} counted, {ledger.counts_acknowledged[key]} acknowledged, "
                f"{attempted} attempted"
            )


def _judge_imports(client: httpx.Client, ledger: Ledger) -> None:
    for imported in ledger.imports:
        scope = imported.keys[0].partition("/")[0]
        response = client.get(f"/api/widgets/{scope}/registry.json")
        found = len(response.json()["widgets"]) if response.status_code == 200 else 0
        whole = len(imported.keys)
        if found != whole and (found or imported.is_acknowledged):
            ledger.violated(f"{found} of {whole} widgets of an import are there")


def _errors_of_doctor(stage: Stage) -> list[str]:
    done = run_command("doctor", "--data", str(stage.data))
    return (done.stdout + done.stderr).decode().splitlines() if done.returncode else []


def _unknown_processes(stage: Stage) -> Iterator[int]:
    """Processes that were started for this data folder and are still running."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            group = os.getpgid(int(entry.name))
        except OSError:
            continue
        if str(stage.data) in command or group in stage.groups:
            yield int(entry.name)


def _unexplained(data: Path) -> Iterator[str]:
    # Of all replicas that were started, only the last one is left.
    replica = re.escape((data / "replica" / "current").read_text().strip())
    explained = re.compile("|".join([*_EXPLAINED, rf"replica/{replica}(-lock)?"]))
    for path in sorted(data.rglob("*")):
        name = str(path.relative_to(data))
        if path.is_file() and not explained.fullmatch(name) and not name.startswith("uploads/"):
            yield name
