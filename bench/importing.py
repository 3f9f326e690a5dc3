"""A large import while the service searches, counts and publishes."""

import random
import subprocess
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from . import catalogs
from .client import Connection, request
from .measures import BenchError, Histogram, Outcome, at_most
from .publishing import AUTHORS_FOLDER, running_with_author
from .reading import SIZE
from .rig import Rig
from .servers import Server, catalog_command, clean_environment
from .traffic import detail_target, everyday_searches, search_target

_SEARCHES_A_SECOND = 50
_COUNTS_A_SECOND = 20
_PUBLISHES_A_SECOND = 2
_TIMEOUT_S = 1_200


def import_while_serving(rig: Rig, size: int) -> list[Outcome]:
    """Requests are sent from before the import until after its end."""
    file = rig.folder / "imported.ndjson"
    with file.open("wb") as lines:
        lines.writelines(islice(catalogs.lines(SIZE + size), SIZE, None))
    rng = random.Random(1)
    searches = everyday_searches()

    def a_search() -> bytes:
        return request(search_target(*rng.choice(searches)))

    def a_count() -> bytes:
        return request(detail_target(rng.randrange(SIZE)), method="POST")

    with running_with_author(rig) as (catalog, author):
        beats = [
            _Beat(_SEARCHES_A_SECOND, _asking(catalog, a_search)),
            _Beat(_COUNTS_A_SECOND, _asking(catalog, a_count)),
            _Beat(_PUBLISHES_A_SECOND, lambda: author.publish() > 0),
        ]
        for beat in beats:
            beat.start()
        time.sleep(1)
        seconds = _import(file, rig.folder / AUTHORS_FOLDER)
        time.sleep(2)
        for beat in beats:
            beat.stop()
    search, count, publish = beats
    if count.refused:
        raise BenchError(f"{count.refused} counts were refused during the import.")
    notes = [
        f"imported in {seconds:.1f} s, {size / seconds:,.0f} widgets a second",
        f"search {search.summary()}; count {count.summary()}; publish {publish.summary()}",
    ]
    p99_ms = search.times_ms.percentile(0.99)
    during = f"during an import of {size:,} widgets"
    return [
        Outcome(f"search {during}, p99", p99_ms, "ms", at_most(100), notes),
        Outcome(f"longest publish of 1 MB {during}", publish.times_ms.most, "ms", at_most(2_000)),
    ]


def _asking(catalog: Server, make: Callable[[], bytes]) -> Callable[[], bool]:
    connection = Connection(catalog.port)
    return lambda: connection.ask(make()).status == 200


def _import(file: Path, data: Path) -> float:
    began = time.monotonic()
    imported = subprocess.run(
        catalog_command("import", str(file), "--data", str(data)),
        capture_output=True,
        env=clean_environment(),
        timeout=_TIMEOUT_S,
    )
    if imported.returncode:
        raise BenchError(f"The import failed: {imported.stderr.decode().strip()}")
    return time.monotonic() - began


class _Beat:
    """Runs a function a given number of times per second, in a thread, and times it."""

    def __init__(self, a_second: float, act: Callable[[], bool]) -> None:
        self.times_ms = Histogram()
        self.refused = 0
        self._interval_s = 1 / a_second
        self._act = act
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._error: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()
        if self._error is not None:
            raise BenchError(f"A request failed: {self._error}") from self._error

    def summary(self) -> str:
        times = self.times_ms
        figures = (times.percentile(0.5), times.percentile(0.99), times.most)
        return " / ".join(f"{it:,.0f}" for it in figures) + " ms (median, p99, longest)"

    def _run(self) -> None:
        due = time.perf_counter()
        try:
            while not self._ended.wait(max(0.0, due - time.perf_counter())):
                began = time.perf_counter()
                self.refused += not self._act()
                self.times_ms.add((time.perf_counter() - began) * 1000)
                due = max(due + self._interval_s, began)
        except (BenchError, OSError) as error:
            self._error = error
