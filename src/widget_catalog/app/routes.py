"""Every route of the internal API, by who calls it. A test fails for routes without a rule."""

from ..accounts import session_api as sessions
from ..accounts import sign_in_api as signing_in
from ..accounts.oauth import api as oauth
from ..accounts.second_factor.rules import StepUp
from ..accounts.tokens import api as tokens
from ..core.actors import Right
from ..core.http.call import OAUTH_BASE
from ..core.http.routing import AuthMode, Route, Routes, Who
from ..operations import api as audit
from ..organizations import api as organizations
from ..publishing import api as publishing
from ..publishing import widget_api as widgets
from ..webhooks import api as webhooks

_SIGN_IN = "/api/auth/sign-in"
_WIDGET = "/api/widgets/{scope}/{name}"
_VERSION = _WIDGET + "/versions/{version}"
_ORGANIZATION = "/api/organizations/{slug}"
_WEBHOOKS = "/api/webhooks"
_WEBHOOK = _WEBHOOKS + "/{id}"
_MANIFEST_AND_MORE = 262_144

ACCOUNT = (
    Route(
        "POST",
        _SIGN_IN,
        signing_in.post_sign_in,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
        hashes=True,
    ),
    Route(
        "POST",
        _SIGN_IN + "/second-factor",
        signing_in.post_second_factor,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
    ),
    Route(
        "POST",
        _SIGN_IN + "/passkey-options",
        signing_in.post_passkey_options,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
    ),
    Route(
        "POST", _SIGN_IN + "/passkey", signing_in.post_passkey, Who.ANYONE, auth=AuthMode.SIGN_IN
    ),
    Route(
        "GET",
        "/api/auth/second-factor",
        signing_in.get_second_factor,
        Who.PERSON,
        without_factor=True,
    ),
    Route("POST", "/api/auth/sign-out", sessions.post_sign_out, Who.ANYONE, without_factor=True),
    Route(
        "POST",
        "/api/auth/register",
        sessions.post_register,
        Who.ANYONE,
        auth=AuthMode.SIGN_IN,
        hashes=True,
    ),
    Route("GET", "/api/auth/session", sessions.get_session, Who.SIGNED_IN, without_factor=True),
    Route(
        "POST",
        "/api/auth/password",
        sessions.post_password,
        Who.PERSON,
        hashes=True,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", "/api/auth/sessions", sessions.get_sessions, Who.PERSON),
    Route("DELETE", "/api/auth/sessions/{id}", sessions.delete_session, Who.BROWSER),
    Route(
        "POST",
        "/api/account/close",
        sessions.post_close,
        Who.PERSON,
        hashes=True,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", "/api/tokens", tokens.get_tokens, Who.PERSON),
    Route("POST", "/api/tokens", tokens.post_token, Who.PERSON, step_up=StepUp.FRESH),
    Route("POST", "/api/tokens/requests/{id}", tokens.post_token_request, Who.PERSON),
    Route("DELETE", "/api/tokens/{id}", tokens.delete_token, Who.PERSON),
)

# The consent page is with the other pages, in `web/pages/account/`.
OAUTH = (
    Route(
        "GET",
        "/.well-known/oauth-authorization-server",
        oauth.get_metadata,
        Who.ANYONE,
        auth=AuthMode.OAUTH,
    ),
    Route("POST", OAUTH_BASE + "/token", oauth.post_token, Who.ANYONE, auth=AuthMode.OAUTH),
    Route("GET", OAUTH_BASE + "/userinfo", oauth.get_userinfo, Who.ANYONE, auth=AuthMode.OAUTH),
    Route("POST", OAUTH_BASE + "/revoke", oauth.post_revoke, Who.ANYONE, auth=AuthMode.OAUTH_ASIDE),
    Route("POST", OAUTH_BASE + "/device", oauth.post_device, Who.ANYONE, auth=AuthMode.OAUTH_ASIDE),
)

PUBLISHING = (
    Route("GET", "/api/widgets/scopes", publishing.get_scopes, Who.SIGNED_IN),
    Route(
        "POST",
        "/api/widgets/publish",
        publishing.post_publish,
        Right.PUBLISH,
        max_body=_MANIFEST_AND_MORE,
        step_up=StepUp.FACTOR,
    ),
)

AFTERWARDS = (
    Route("GET", _WIDGET, widgets.get_widget, Right.VIEW),
    Route("POST", _VERSION + "/yank", widgets.post_yank, Right.YANK),
    Route("POST", _VERSION + "/unyank", widgets.post_unyank, Right.YANK),
    Route("POST", _VERSION + "/revoke", widgets.post_revoke, Right.REVOKE),
    Route("POST", _VERSION + "/unrevoke", widgets.post_unrevoke, Right.REVOKE),
    Route("POST", _VERSION + "/deprecate", widgets.post_deprecate, Right.DEPRECATE),
    Route("POST", _VERSION + "/undeprecate", widgets.post_undeprecate, Right.DEPRECATE),
    Route("POST", _WIDGET + "/list", widgets.post_list, Right.LIST),
    Route("POST", _WIDGET + "/unlist", widgets.post_unlist, Right.LIST),
    Route("POST", _WIDGET + "/official", widgets.post_official, Right.MAKE_OFFICIAL),
    Route("GET", _WIDGET + "/publishers", widgets.get_widget_publishers, Right.VIEW),
    Route(
        "PUT",
        _WIDGET + "/publishers",
        widgets.put_publishers,
        Right.NAME_PUBLISHERS,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", _WIDGET + "/audit", audit.get_widget_audit, Right.READ_AUDIT),
    Route("GET", "/api/audit", audit.get_audit, Who.OPERATOR),
)

ORGANIZATIONS = (
    Route("GET", "/api/organizations", organizations.get_organizations, Who.PERSON),
    Route(
        "POST",
        "/api/organizations",
        organizations.post_organization,
        Who.PERSON,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", _ORGANIZATION, organizations.get_organization, Right.VIEW),
    Route("GET", _ORGANIZATION + "/audit", audit.get_organization_audit, Right.READ_AUDIT),
    Route(
        "GET",
        _ORGANIZATION + "/invitations",
        organizations.get_organization_invitations,
        Right.MANAGE_MEMBERS,
    ),
    Route(
        "POST",
        _ORGANIZATION + "/invitations",
        organizations.post_invitation,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    Route(
        "DELETE",
        _ORGANIZATION + "/invitations/{id}",
        organizations.delete_invitation,
        Right.MANAGE_MEMBERS,
    ),
    Route(
        "PUT",
        _ORGANIZATION + "/members/{username}",
        organizations.put_member,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    Route(
        "DELETE",
        _ORGANIZATION + "/members/{username}",
        organizations.delete_member,
        Right.MANAGE_MEMBERS,
        step_up=StepUp.FACTOR,
    ),
    Route("PUT", _ORGANIZATION + "/settings", organizations.put_settings, Right.OWN),
    Route(
        "POST",
        _ORGANIZATION + "/transfer",
        organizations.post_transfer,
        Right.OWN,
        step_up=StepUp.FACTOR,
    ),
    Route("GET", "/api/invitations", organizations.get_invitations, Who.PERSON),
    Route("POST", "/api/invitations/{id}/accept", organizations.post_accept, Who.PERSON),
    Route("POST", "/api/invitations/{id}/decline", organizations.post_decline, Who.PERSON),
)

# The actions check the owner: webhooks of others do not exist for the actor.
WEBHOOKS = (
    Route("GET", _WEBHOOKS, webhooks.get_webhooks, Who.PERSON),
    Route("POST", _WEBHOOKS, webhooks.post_webhook, Who.PERSON, step_up=StepUp.FACTOR),
    Route("GET", _WEBHOOK, webhooks.get_webhook, Who.PERSON),
    Route("DELETE", _WEBHOOK, webhooks.delete_webhook, Who.PERSON),
    Route("POST", _WEBHOOK + "/rotate", webhooks.post_rotate, Who.PERSON, step_up=StepUp.FACTOR),
    Route("POST", _WEBHOOK + "/enable", webhooks.post_enable, Who.PERSON),
    Route("POST", _WEBHOOK + "/disable", webhooks.post_disable, Who.PERSON),
    Route("POST", _WEBHOOK + "/ping", webhooks.post_ping, Who.PERSON),
    Route("GET", _WEBHOOK + "/deliveries", webhooks.get_deliveries, Who.PERSON),
    Route("POST", _WEBHOOK + "/deliveries/{delivery}/replay", webhooks.post_replay, Who.PERSON),
)

ROUTES = Routes((*ACCOUNT, *OAUTH, *PUBLISHING, *AFTERWARDS, *ORGANIZATIONS, *WEBHOOKS))
