"""The worker that all reading scenarios share, with full caches."""

import contextlib
import random
from collections.abc import Iterator

from .catalogs import WIDGETS_A_SCOPE
from .client import Connection, request
from .folders import ensure_folder
from .measures import BenchError
from .rig import Rig, say
from .servers import Server, running_catalog
from .traffic import (
    ACCEPTS_COMPRESSED,
    SDKS,
    detail_target,
    detail_targets,
    ever_new_searches,
    everyday_searches,
    page_target,
    registry_target,
    search_target,
    version_targets,
)

SIZE, VERSIONS = 10_000, 8
SCOPES, PAGES = 10, 100


@contextlib.contextmanager
def reading(rig: Rig) -> Iterator[Server]:
    """One worker for all scenarios of a run, so that each finds the caches as the others leave
    them. With `--fresh`, a new one, whose caches have only what the scenario requests.
    """
    if rig.options.fresh:
        with running_catalog(rig, ensure_folder(SIZE, VERSIONS)) as catalog:
            yield catalog
    else:
        yield rig.kept.get("reading", lambda: _running_full(rig))


@contextlib.contextmanager
def _running_full(rig: Rig) -> Iterator[Server]:
    with running_catalog(rig, ensure_folder(SIZE, VERSIONS)) as catalog:
        _fill(catalog)
        yield catalog


def everyday_targets() -> list[str]:
    return [search_target(q, page) for q, page in everyday_searches()]


def compat_targets() -> list[str]:
    searches = enumerate(everyday_searches())
    return [search_target(q, page, SDKS[i % len(SDKS)]) for i, (q, page) in searches]


def new_targets() -> list[str]:
    return [search_target(q, page) for q, page in ever_new_searches()]


def registry_targets() -> list[str]:
    return [registry_target(number * WIDGETS_A_SCOPE) for number in range(SCOPES)]


def widget_page_targets() -> list[str]:
    return [page_target(detail_target(number)) for number in range(PAGES)]


def _fill(catalog: Server) -> None:
    """Send every request of the reading scenarios once, in random order."""
    say("Filling the caches of the worker …")
    targets = [
        *detail_targets(SIZE, SIZE),
        *version_targets(SIZE, VERSIONS),
        *everyday_targets(),
        *compat_targets(),
        *new_targets(),
        *map(page_target, everyday_targets()),
        *widget_page_targets(),
    ]
    requests = [request(it) for it in targets]
    requests += [request(it, ACCEPTS_COMPRESSED) for it in registry_targets()]
    random.Random(0).shuffle(requests)
    with Connection(catalog.port) as client:
        for raw in requests:
            if (status := client.ask(raw).status) != 200:
                raise BenchError(f"{raw.decode()!r} is answered with {status}.")
