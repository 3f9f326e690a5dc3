"""The operator's brand: how pages look, what they announce, and legal pages."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.features import Closeable, Feature, WorkerContext, value_of

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.services import Services


def _hooks() -> "Hooks":
    from ..catalog.model.operator_content import find_brand, find_legal_page
    from . import managing  # noqa: F401 - so that the audit log can name its events.
    from .store import find_page, find_shown

    return {find_brand: find_shown, find_legal_page: find_page}


def _start(context: WorkerContext) -> tuple[Closeable, ...]:
    """So that the first page shows it already."""
    from ..catalog.model.operator_content import read_brand
    from ..core.errors import StoreUnavailable

    with suppress(StoreUnavailable):
        context.services.renderer.show_brand(read_brand(context.services.store))
    return ()


def _current_settings(services: "Services") -> dict[str, Any]:
    from ..catalog.model.operator_content import read_brand

    name = read_brand(services.store).name
    return {"service_name": name} if name else {}


FEATURE = Feature(
    name="brand",
    templates=Path(__file__).parent / "templates",
    links={"operate": (("/operate/brand", "Brand"),)},
    texts={"operator_can": "change the brand"},
    tables=("widget_catalog.brand.store",),
    hooks=_hooks,
    routes=value_of("widget_catalog.brand.endpoints:ROUTES"),
    start=_start,
    current_settings=_current_settings,
)
