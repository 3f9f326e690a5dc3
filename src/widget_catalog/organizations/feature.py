"""Organizations: members, roles, invitations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.features import Feature
from .settings import OrganizationSettings

if TYPE_CHECKING:
    from ..core.http.routing import Route


def _routes() -> "Sequence[Route]":
    from .routes import ROUTES

    return ROUTES


FEATURE = Feature(name="organizations", settings=OrganizationSettings, routes=_routes)
