"""Organizations: members, roles, invitations."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..core.features import Feature, value_of
from .settings import OrganizationSettings

if TYPE_CHECKING:
    from ..core.hooks import Hooks


def _hooks() -> "Hooks":
    from ..accounts import permissions
    from ..accounts.events import AccountClosed
    from ..catalog.store.scopes import find_public_members
    from . import organize, store

    return {
        AccountClosed: organize.leave_all,
        find_public_members: organize.list_public_members,
        permissions.owns_organization: store.owns_organization,
        permissions.list_organization_names: store.list_organization_names,
        permissions.list_scopes_of: store.list_scopes_of,
    }


FEATURE = Feature(
    name="organizations",
    templates=Path(__file__).parent / "templates",
    links={"account": (("/account/organizations", "Organizations"),)},
    purposes={"/account/organizations": "create an organization or change its members"},
    tables=("widget_catalog.organizations.store",),
    settings=OrganizationSettings,
    hooks=_hooks,
    routes=value_of("widget_catalog.organizations.endpoints:ROUTES"),
)
