"""The operator's brand: how pages look, what they announce, and legal pages."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.features import Feature, call_of, value_of

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.services import Services


def _hooks() -> "Hooks":
    from . import managing  # noqa: F401 - so that the audit log can name its events.

    return {}


def _current_settings(services: "Services") -> dict[str, Any]:
    from .store import read_brand

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
    public_pages=call_of("widget_catalog.brand.public_pages:build"),
    current_settings=_current_settings,
)
