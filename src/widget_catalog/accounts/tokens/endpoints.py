"""Handlers: access tokens for machines, over the API and on pages."""

from collections.abc import Mapping

from ...core.actors import TOKEN_RIGHTS, Right
from ...core.errors import InvalidRequest, NotAllowed
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.replies import done, reply
from ...core.http.sent_form import SentForm, forms_of, own_page
from ...core.http.services import Services
from ..permissions import list_publishing_scopes, read_own, require_person
from . import issue_token as issuing
from .issue_token import MAX_DAYS, FieldNames, TokenForm, describe_token
from .store import list_tokens

_PLACES = "Scopes and widgets"
_CALLED = FieldNames("Name", "Permissions", "Days", _PLACES, _PLACES)
_FIELDS = {"Name": "name", "Permissions": "may", "Days": "days", _PLACES: "places"}
_EMPTY = SentForm("", {"days": "90"})
_WORDS = {
    Right.PUBLISH: "publish versions",
    Right.YANK: "yank and unyank versions",
    Right.DEPRECATE: "deprecate and undeprecate versions",
    Right.LIST: "list and unlist widgets",
}


def post_token(services: Services, call: Call) -> Response:
    require_person(call.actor)
    if call.visitor.grant_id is not None:
        raise NotAllowed(
            "A program cannot create an access token by itself. Update widget, which then asks you "
            f"to confirm it; or create it at {services.settings.public_url}/account/tokens/new."
        )
    wanted = issuing.parse_wanted(services.store, call.actor, call.json(TokenForm))
    issued = issuing.issue_token(services.store, call.visitor, wanted)
    return reply({**describe_token(issued.token), "token": issued.secret}, status=201)


def get_tokens(services: Services, call: Call) -> Response:
    tokens = read_own(services.store, call.actor, list_tokens)
    return reply({"tokens": [describe_token(token) for token in tokens]})


def delete_token(services: Services, call: Call) -> Response:
    issuing.revoke_token(services.store, call.actor, call.params["id"])
    return done()


def get_new_token(services: Services, call: Call, sent: SentForm = _EMPTY) -> Response:
    chosen = [Right.PUBLISH] if sent.error is None else _chosen(call)
    shown = {
        "actions": [(right.value, _WORDS[right], right in chosen) for right in TOKEN_RIGHTS],
        "scopes": [scope.name for scope in list_publishing_scopes(services.store, call.actor)],
        "max_days": MAX_DAYS,
    }
    return own_page(services, call, "accounts/new_token.html", sent=sent, **shown)


def _chosen(call: Call) -> list[str]:
    return [value for key, value in call.form_pairs() if key == "may"]


@forms_of(get_new_token, lambda call: call.request.path, (InvalidRequest,))("", _FIELDS)
def post_new_token(services: Services, call: Call, typed: Mapping[str, str]) -> Response:
    places = typed.get("places", "").replace(",", " ").replace("@", " ").split()
    form = TokenForm(
        name=typed.get("name", "").strip(),
        actions=_chosen(call),
        scopes=[place for place in places if "/" not in place],
        widgets=[place for place in places if "/" in place],
        expires_in_days=_whole_number(typed.get("days", "")),
    )
    wanted = issuing.parse_wanted(services.store, call.actor, form, _CALLED)
    issued = issuing.issue_token(services.store, call.visitor, wanted)
    shown = {"script_rules": "", "secret": issued.secret, "token": issued.token}
    return own_page(services, call, "accounts/made_token.html", **shown)


def _whole_number(text: str) -> int:
    """Invalid numbers become 0, which is rejected."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else 0
