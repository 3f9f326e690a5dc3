"""Organizations: members, roles, invitations."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.features import Feature, value_of
from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.call import Services


@dataclass(frozen=True, kw_only=True)
class OrganizationSettings(FeatureSettings):
    max_organizations: int = setting(
        10,
        "Organizations that an account may own; `0`: no limit. See "
        "[quotas](administering.md#quotas).",
        rule=between(0, 1 << 40),
    )


def max_owned(services: "Services") -> int:
    """How many organizations an account may own; 0 is no limit."""
    return services.settings.of(OrganizationSettings).max_organizations


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
