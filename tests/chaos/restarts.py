"""Restarts under load, as described in docs/operating.md: how many requests fail?"""

import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

from support.activation import activated_service, listening_socket
from support.folders import filled_folder
from support.load import ReadingLoad
from support.service import running_service, wait_for
from support.widgets import widget_line

_PATH = "/api/v1/widgets/acme/clock"
_WORKERS = ("--workers", "2")
# Responses between two restarts, so that most requests reach a running service.
_RESPONSES = 1_000


def count_failures(restarts: int) -> bool:
    """Measure both ways to restart; returns whether no request failed."""
    with tempfile.TemporaryDirectory(prefix="restarts-") as folder:
        data = filled_folder(Path(folder) / "data", widget_line("acme/clock"))
        loads = {
            "SIGHUP": _replace_workers(data, restarts),
            "restarts with a socket that the service manager holds": _restart(data, restarts),
        }
    for way, load in loads.items():
        print(
            f"{restarts} {way}: {load.answered:,} requests, {len(load.failures):,} failed, "
            f"the longest took {load.longest_s:.1f} s",
            flush=True,
        )
        for failure in load.failures[:5]:
            print(f"  - {failure}")
    return not any(load.failures for load in loads.values())


def _replace_workers(data: Path, times: int) -> ReadingLoad:
    with running_service(data, *_WORKERS) as service:
        with ReadingLoad(service.port, _PATH) as load:
            for number in range(1, times + 1):
                load.wait_for(_RESPONSES)
                service.process.send_signal(signal.SIGHUP)
                wait_for(_said(lambda: service.log, number), 120)
        return load


def _said(read_log: Callable[[], str], times: int) -> Callable[[], bool]:
    return lambda: read_log().count("All workers were replaced") == times


def _restart(data: Path, times: int) -> ReadingLoad:
    with listening_socket() as listening:
        service = activated_service(data, listening, *_WORKERS)
        try:
            with ReadingLoad(service.port, _PATH) as load:
                for _ in range(times):
                    load.wait_for(_RESPONSES)
                    service.stop()
                    service = activated_service(data, listening, *_WORKERS)
                load.wait_for(_RESPONSES)
        finally:
            service.kill()
    return load
