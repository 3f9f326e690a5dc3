"""Organizations: members, roles, invitations."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.features import Feature
from .settings import OrganizationSettings

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.routing import Route


def _routes() -> "Sequence[Route]":
    from .routes import ROUTES

    return ROUTES


def _hooks() -> "Hooks":
    from .hooks import HOOKS

    return HOOKS


FEATURE = Feature(
    name="organizations",
    templates=Path(__file__).parent / "templates",
    links={"account": (("/account/organizations", "Organizations"),)},
    tables=("widget_catalog.organizations.tables",),
    settings=OrganizationSettings,
    hooks=_hooks,
    routes=_routes,
)
