"""Scenarios of public pages, compared with nginx serving the same bytes."""

from .folders import ensure_folder
from .measures import Outcome, at_least
from .rig import Rig
from .servers import running_catalog
from .side_by_side import side_by_side, survey
from .throughput import SIZE
from .traffic import detail_target, everyday_searches, search_target

_WIDGETS = 100
_WANTED = at_least(0.05)


def pages(rig: Rig) -> list[Outcome]:
    """As requested by visitors: uncompressed, and each more than once."""
    searches = [_page_of(search_target(q, page)) for q, page in everyday_searches()]
    widgets = [_page_of(detail_target(number)) for number in range(_WIDGETS)]
    kinds = {
        "front page": ["/"],
        "search page, common words": searches,
        f"widget page, {_WIDGETS} widgets": widgets,
    }
    with running_catalog(rig, ensure_folder(SIZE)) as catalog:
        return [
            side_by_side(rig, catalog, survey(catalog, targets), what, _WANTED)
            for what, targets in kinds.items()
        ]


def _page_of(target: str) -> str:
    """The page that corresponds to this URL of the API."""
    path = target.removeprefix("/api/v1/widgets")
    return path if path.startswith("/search") else f"/widgets{path}"
