"""Scenarios of reads while downloads are counted."""

import contextlib
import http.client
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from .client import request
from .folders import copy_of, ensure_folder
from .load import run_wrk, write_requests
from .measures import BenchError, Limit, Outcome, median_ratio
from .rig import Rig
from .servers import Server, running_catalog
from .traffic import detail_target, detail_targets, everyday_searches, search_target

# Connections, and counts per second of each: a single one would mostly wait for responses.
_CONNECTIONS, _A_SECOND_EACH = 10, 10


def detail_counting(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    what = f"detail, {size:,} widgets, all keys uniformly, while downloads are counted"
    return [_while_counting(rig, size, detail_targets(size, size), what, wanted)]


def search_counting(rig: Rig, size: int, wanted: Limit | None = None) -> list[Outcome]:
    what = f"search, {size:,} widgets, common words, while downloads are counted"
    targets = [search_target(q, page) for q, page in everyday_searches()]
    return [_while_counting(rig, size, targets, what, wanted)]


def _while_counting(
    rig: Rig, size: int, targets: Sequence[str], what: str, wanted: Limit | None
) -> Outcome:
    """The rate while widgets are counted, compared with the rate while none is, in turns."""
    file = write_requests(rig.folder / "requests-counting", map(request, targets))
    data = copy_of(ensure_folder(size), rig.folder / "counted-meanwhile")
    quiet, busy, counted, seconds = [], [], 0, 0.0
    with running_catalog(rig, data) as catalog:
        run_wrk(rig, catalog, file, rig.options.seconds)
        for _ in range(rig.options.rounds):
            quiet.append(run_wrk(rig, catalog, file, rig.options.seconds))
            began = time.monotonic()
            with counting(catalog, size) as count:
                busy.append(run_wrk(rig, catalog, file, rig.options.seconds))
            seconds += time.monotonic() - began
            counted += count()
    shutil.rmtree(data)
    ratio = median_ratio([it.rate for it in busy], [it.rate for it in quiet])
    cpu_ratio = median_ratio([it.cpu_rate for it in busy], [it.cpu_rate for it in quiet])
    rates = [median(it.rate for it in some) for some in (busy, quiet)]
    notes = [
        f"{rates[0]:,.0f}/s beside {rates[1]:,.0f}/s; by processor time {cpu_ratio:.2f}",
        f"{counted / seconds:.0f} downloads counted a second meanwhile, by the same worker",
    ]
    return Outcome(what, ratio, "of quiet", wanted, notes, {"cpu_ratio": cpu_ratio})


@contextlib.contextmanager
def counting(catalog: Server, size: int) -> Iterator[Callable[[], int]]:
    """Count downloads of random widgets, a hundred per second; returns how many were
    acknowledged.
    """
    is_over = threading.Event()
    statuses: list[int] = []

    def count(number: int) -> None:
        choose = random.Random(number)
        connection = http.client.HTTPConnection("127.0.0.1", catalog.port, timeout=30)
        due = time.monotonic() + number / _CONNECTIONS / _A_SECOND_EACH
        while not is_over.wait(max(0.0, due - time.monotonic())):
            connection.request("POST", detail_target(choose.randrange(size)))
            response = connection.getresponse()
            response.read()
            statuses.append(response.status)
            due += 1 / _A_SECOND_EACH
        connection.close()

    threads = [threading.Thread(target=count, args=(it,)) for it in range(_CONNECTIONS)]
    for thread in threads:
        thread.start()
    try:
        yield lambda: len(statuses)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    if errors := [it for it in statuses if it != 200]:
        raise BenchError(f"A download was answered with {errors[0]}.")
