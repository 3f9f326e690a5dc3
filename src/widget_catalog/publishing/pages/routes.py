"""Every page for authors."""

from ...accounts.second_factor.rules import StepUp
from ...core.actors import Right
from ...core.http.routing import AuthMode, Handler, Route, Who
from ...organizations import pages as organizations
from ...webhooks import pages as webhooks
from . import publishing, versions, widgets

_WIDGET = widgets.WIDGETS + "/{scope}/{name}"
_ORGANIZATION = organizations.ORGANIZATIONS + "/{slug}"
_WEBHOOK = webhooks.WEBHOOKS + "/{id}"
_VERSION = _WIDGET + "/versions/{version}"
_PENDING = publishing.PUBLISH + "/{id}"


def _page(
    method: str,
    path: str,
    handler: Handler,
    needs: Who | Right,
    *,
    step_up: StepUp = StepUp.NONE,
    takes_files: bool = False,
) -> Route:
    return Route(
        method,
        path,
        handler,
        needs,
        auth=AuthMode.PAGE,
        step_up=step_up,
        takes_files=takes_files,
    )


WIDGETS = (
    _page("GET", widgets.WIDGETS, widgets.get_widgets, Who.PERSON),
    _page("GET", _WIDGET, widgets.get_widget, Right.VIEW),
    _page("POST", _WIDGET + "/list", widgets.post_list, Right.LIST),
    _page("POST", _WIDGET + "/unlist", widgets.post_unlist, Right.LIST),
    _page("POST", _WIDGET + "/official", widgets.post_official, Right.MAKE_OFFICIAL),
    _page(
        "POST",
        _WIDGET + "/publishers",
        widgets.post_publishers,
        Right.NAME_PUBLISHERS,
        step_up=StepUp.FACTOR,
    ),
    _page("GET", _WIDGET + "/audit", widgets.get_audit, Right.READ_AUDIT),
    _page("GET", _VERSION, versions.get_version, Right.VIEW),
    _page("POST", _VERSION + "/yank", versions.post_yank, Right.YANK),
    _page("POST", _VERSION + "/unyank", versions.post_unyank, Right.YANK),
    _page("POST", _VERSION + "/deprecate", versions.post_deprecate, Right.DEPRECATE),
    _page("POST", _VERSION + "/undeprecate", versions.post_undeprecate, Right.DEPRECATE),
    _page("POST", _VERSION + "/revoke", versions.post_revoke, Right.REVOKE),
    _page("POST", _VERSION + "/revoke-everywhere", versions.post_revoke_everywhere, Right.REVOKE),
    _page("POST", _VERSION + "/unrevoke", versions.post_unrevoke, Right.REVOKE),
)

PUBLISHING = (
    _page("GET", publishing.PUBLISH, publishing.get_publish, Who.PERSON),
    _page("POST", publishing.PUBLISH, publishing.post_publish, Who.PERSON, takes_files=True),
    _page("GET", _PENDING, publishing.get_pending, Who.PERSON),
    _page("POST", _PENDING, publishing.post_pending, Who.PERSON, step_up=StepUp.FACTOR),
    _page("POST", _PENDING + "/discard", publishing.post_discard, Who.PERSON),
    _page("GET", _PENDING + "/index.js", publishing.get_bundle, Who.PERSON),
    _page("GET", _PENDING + "/index.css", publishing.get_style, Who.PERSON),
)

ORGANIZATIONS = (
    _page("GET", organizations.ORGANIZATIONS, organizations.get_organizations, Who.PERSON),
    _page(
        "POST",
        organizations.ORGANIZATIONS,
        organizations.post_organization,
        Who.PERSON,
        step_up=StepUp.FACTOR,
    ),
    _page("GET", _ORGANIZATION, organizations.get_organization, Right.VIEW),
    _page("GET", _ORGANIZATION + "/audit", organizations.get_audit, Right.READ_AUDIT),
    _page(
        "POST",
        _ORGANIZATION + "/invitations",
        organizations.post_invitation,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    _page(
        "POST",
        _ORGANIZATION + "/invitations/{id}",
        organizations.post_withdraw,
        Right.MANAGE_MEMBERS,
    ),
    _page(
        "POST",
        _ORGANIZATION + "/members/{username}",
        organizations.post_role,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    _page(
        "POST",
        _ORGANIZATION + "/members/{username}/remove",
        organizations.post_remove,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    _page("POST", _ORGANIZATION + "/members-public", organizations.post_members_public, Right.OWN),
    _page(
        "POST",
        _ORGANIZATION + "/leave",
        organizations.post_leave,
        Right.VIEW,
        step_up=StepUp.FACTOR,
    ),
    _page(
        "POST",
        _ORGANIZATION + "/transfer",
        organizations.post_transfer,
        Right.OWN,
        step_up=StepUp.FACTOR,
    ),
)

# The actions check the owner: webhooks of others do not exist for the actor.
WEBHOOKS = (
    _page("GET", webhooks.WEBHOOKS, webhooks.get_webhooks, Who.PERSON),
    _page("POST", webhooks.WEBHOOKS, webhooks.post_webhook, Who.PERSON, step_up=StepUp.FACTOR),
    _page("GET", _WEBHOOK, webhooks.get_webhook, Who.PERSON),
    _page("POST", _WEBHOOK + "/rotate", webhooks.post_rotate, Who.PERSON, step_up=StepUp.FACTOR),
    _page("POST", _WEBHOOK + "/enable", webhooks.post_enable, Who.PERSON),
    _page("POST", _WEBHOOK + "/disable", webhooks.post_disable, Who.PERSON),
    _page("POST", _WEBHOOK + "/ping", webhooks.post_ping, Who.PERSON),
    _page("POST", _WEBHOOK + "/remove", webhooks.post_remove, Who.PERSON),
    _page("POST", _WEBHOOK + "/deliveries/{delivery}/replay", webhooks.post_replay, Who.PERSON),
)

AUTHOR_PAGES = (*WIDGETS, *PUBLISHING, *ORGANIZATIONS, *WEBHOOKS)
