"""Handlers: access tokens for machines, over the API and on pages."""

from collections.abc import Mapping

from ...core.actors import TOKEN_RIGHTS, Right
from ...core.clock import from_ms, iso
from ...core.credentials import shown_code
from ...core.errors import InvalidRequest, NotFound
from ...core.http.call import Call, Services, done, reply
from ...core.http.http import Response
from ...core.http.sent_form import SentForm, code_page, done_page, forms_of, own_page
from ..permissions import list_publishing_scopes, read_own, require_person
from ..services import AccountServices
from . import issue_token as issuing
from .issue_token import MAX_DAYS, REQUEST_S, FieldNames, IssuedToken, TokenForm
from .store import Token, list_tokens

_INTERVAL_S = 3
_CONFIRM = ("Confirm an access token", "Enter the code shown by the program.")
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
    """With a session: the token. With a program's sign-in: a request for the person to confirm."""
    require_person(call.actor)
    wanted = issuing.parse_wanted(services.store, call.actor, call.json(TokenForm))
    if call.visitor.grant_id is None:
        return _made(issuing.issue_token(services.store, call.visitor, wanted))
    request = issuing.request_token(services.store, call.visitor, wanted)
    place, code = f"{services.settings.public_url}/account/token", shown_code(request.user_code)
    shown = {
        "requestId": request.id,
        "userCode": code,
        "confirmUrl": place,
        "confirmUrlComplete": f"{place}?code={code}",
        "expiresInSeconds": REQUEST_S,
        "intervalSeconds": _INTERVAL_S,
    }
    return reply(shown, status=202)


def post_claim(services: Services, call: Call) -> Response:
    """A program polls for the person's decision."""
    issued = issuing.claim_token(services.store, call.visitor, call.params["id"])
    return reply({"status": "pending"}, status=202) if issued is None else _made(issued)


def get_tokens(services: Services, call: Call) -> Response:
    tokens = read_own(services.store, call.actor, list_tokens)
    return reply({"tokens": [_shown(token) for token in tokens]})


def delete_token(services: Services, call: Call) -> Response:
    issuing.revoke_token(services.store, call.actor, call.params["id"])
    return done()


def _made(issued: IssuedToken) -> Response:
    return reply({**_shown(issued.token), "token": issued.secret}, status=201)


def _shown(token: Token) -> dict[str, object]:
    used = token.last_used_at
    return {
        "id": token.id,
        "name": token.name,
        "actions": [right.value for right in token.limits.rights],
        "scopes": token.limits.scopes,
        "widgets": token.limits.widgets,
        "createdAt": iso(from_ms(token.created_at)),
        "expiresAt": iso(from_ms(token.expires_at)),
        "lastUsedAt": None if used is None else iso(from_ms(used)),
    }


def get_token_request(services: Services, call: Call) -> Response:
    code = call.query().get("code", "")
    return _show(services, call, code) if code else code_page(services, call, *_CONFIRM, code)


def post_token_request(services: Services, call: Call) -> Response:
    """First the code, if it was typed; then the decision."""
    form = call.form()
    code, decision = form.get("user_code", ""), form.get("decision")
    if decision is None:
        return _show(services, call, code)
    is_agreed = decision == "continue"
    try:
        request = issuing.decide_token(services.store, call.visitor, code, is_agreed=is_agreed)
    except NotFound as error:
        return code_page(services, call, *_CONFIRM, code, error)
    if not is_agreed:
        return done_page(services, call, "Refused", "No token was created.")
    name = request.wanted.name
    sentence = f"The program now receives the token {name}. You can close this page."
    return done_page(services, call, "Confirmed", sentence)


def _show(services: Services, call: Call, code: str) -> Response:
    try:
        request, client_id = issuing.view_token_request(services.store, call.visitor, code)
    except NotFound as error:
        return code_page(services, call, *_CONFIRM, code, error)
    client = services.of(AccountServices).oauth.clients.get(client_id)
    shown = {
        "client_name": client.name if client is not None else client_id,
        "request": request.wanted,
        "user_code": shown_code(request.user_code),
    }
    return own_page(services, call, "accounts/token_request.html", **shown)


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
