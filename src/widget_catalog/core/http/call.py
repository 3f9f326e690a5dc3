"""What handlers work with: a Call, which is a request with its context and decoded body, and the
Services of features; the responses of the internal API; and cookies that only this service can have
set.

Handlers use plain cookie names. Over https browsers see them with the prefix `__Host-`, which they
accept only from this host, over https, for all paths: another host of the same domain cannot set
or replace them. Over plain http there is no such protection.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from widget_contract.texts import find_similar

from ..actors import Actor, Via, Visitor
from ..credentials import hash_secret
from ..db.engine import Store
from ..errors import InvalidRequest, NotSignedIn
from ..files.contract import Bundles, Uploads
from ..keys import Keys, SigningKey, read_signed, sign_value
from ..settings import Settings
from .http import NOSNIFF, Request, Response
from .receiving import FormFile
from .rendering import Header, PageRenderer

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")

COOKIE = "session"
OAUTH_BASE = "/api/auth/oauth2"
_JSON = ("content-type", "application/json; charset=utf-8")
_NO_STORE = ("cache-control", "no-store")
_MAX_FIELDS = 100
# The encoder does not know our subclasses of str.
_encode = msgspec.json.Encoder(enc_hook=str).encode


@dataclass(eq=False, kw_only=True)
class Services:
    store: Store
    bundles: Bundles
    check_bundles: Callable[[], None]
    """Raises FolderUnusable or BundlesDown, without waiting for the object store."""
    uploads: Uploads
    settings: Settings
    keys: Keys
    renderer: PageRenderer
    applied_seq: Callable[[], int]
    """The newest change that this node shows to readers."""
    notifications: Callable[[], int] | None = None
    """A number that differs once any node has changed something. None: there are no nodes."""
    _provided: dict[type, Any] = field(default_factory=dict, init=False)

    @property
    def signing_key(self) -> SigningKey:
        """Signs values that browsers keep for some minutes."""
        return self.keys.for_purpose("signing in")

    def provide(self, service: object) -> None:
        """Make a feature's service available to handlers, by its type."""
        self._provided[type(service)] = service

    def of(self, kind: type[T]) -> T:
        """The service of this type. Its feature is installed, or its handlers would not run."""
        service: T = self._provided[kind]
        return service


class Call:
    """Handlers run in a thread; everything here is already available, without waiting."""

    def __init__(
        self,
        request: Request,
        address: str,
        params: Mapping[str, str],
        body: bytes,
        visitor: Visitor | None,
        cookies: Mapping[str, str],
        files: Sequence[FormFile] = (),
    ) -> None:
        """`files` are closed when the handler returns."""
        self.request = request
        self.address = address
        self.params = params
        self.body = body
        self.cookies = cookies
        self.files = files
        self.prepared: Any = None
        """What the route's preparation has found out, for its handler."""
        self._visitor = visitor

    @property
    def visitor(self) -> Visitor:
        if self._visitor is None:
            raise NotSignedIn("Sign in first.")
        return self._visitor

    @property
    def actor(self) -> Actor:
        return self.visitor.actor

    @property
    def is_signed_in(self) -> bool:
        return self._visitor is not None

    @property
    def is_by_session(self) -> bool:
        """Whether the request is authenticated by cookie, which browsers send for any page."""
        return self._visitor is not None and self._visitor.actor.via is Via.SESSION

    @property
    def key(self) -> str:
        """The widget that the path names."""
        return f"{self.params['scope']}/{self.params['name']}"

    def json(self, shape: type[S]) -> S:
        """The decoded body; raises InvalidRequest with all errors."""
        return read_fields(self.body, shape)

    def form(self) -> dict[str, str]:
        """The fields of a form; of duplicates, the first is used."""
        return _first(self.form_pairs())

    def form_pairs(self) -> list[tuple[str, str]]:
        return _pairs(self.body.decode("utf-8", "replace"))

    def query(self) -> dict[str, str]:
        return _first(self.query_pairs())

    def query_pairs(self) -> list[tuple[str, str]]:
        return _pairs(self.request.query_string)

    @property
    def address_here(self) -> str:
        """Path and query, to return to."""
        query = self.request.query_string
        return f"{self.request.path}?{query}" if query else self.request.path

    @property
    def csrf_token(self) -> str:
        """For the forms of a page; empty without a session."""
        return csrf_token(self.cookies.get(COOKIE, "")) if self._visitor else ""

    def page(self) -> tuple[int, int]:
        """`page` and `limit` of a list, as in the public API."""
        query = self.query()
        page, limit = query.get("page", "1"), query.get("limit", "20")
        for name, text in (("page", page), ("limit", limit)):
            if not (text.isascii() and text.isdecimal() and len(text) <= 9 and int(text) >= 1):
                raise InvalidRequest(f"{name} must be a whole number, 1 or more.")
        return int(page), min(int(limit), 100)


def email_for(visitor: Visitor) -> str | None:
    """The user's e-mail address, for the user; hidden from access tokens, and from programs
    without the scope `email`.
    """
    account, scopes = visitor.actor.account, visitor.oauth_scopes
    is_hidden = visitor.actor.limits is not None or (scopes is not None and "email" not in scopes)
    return None if account is None or is_hidden else account.email


def is_asked_by_program(request: Request) -> bool:
    """Whether the client of an /api/ path that has pages wants no HTML."""
    wants_page = "text/html" in (request.headers.get("accept") or "")
    return request.path.startswith("/api/") and not wants_page


def csrf_token(session_secret: str) -> str:
    """The token that requests of this session must include: other sites cannot know it."""
    return hash_secret(f"csrf {session_secret}")


def reply(value: Any, *headers: tuple[str, str], status: int = 200) -> Response:
    """A JSON response that must not be cached."""
    return Response(status, [_JSON, _NO_STORE, NOSNIFF, *headers], _encode(value))


def done(*headers: tuple[str, str]) -> Response:
    return reply({"success": True}, *headers)


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise InvalidRequest(f"At most {_MAX_FIELDS} fields are taken.") from None


def _first(pairs: list[tuple[str, str]]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for key, value in pairs:
        fields.setdefault(key, value)
    return fields


class Paging(NamedTuple):
    page: int
    pages: int
    previous: str | None
    next: str | None

    @classmethod
    def of(cls, call: Call, page: int, limit: int, total: int) -> Self:
        pages = max(1, -(-total // limit))

        def link(to: int) -> str | None:
            if not 1 <= to <= pages:
                return None
            return f"?{urlencode({**call.query(), 'page': str(to)})}"

        return cls(page, pages, link(min(page - 1, pages)), link(page + 1))


# The types of all fields in bodies.
_RULES: dict[object, str] = {
    str: "must be a text.",
    str | None: "must be a text.",
    int: "must be a whole number.",
    bool: "must be true or false.",
    bool | None: "must be true, false or null.",
    list[str]: "must be a list of texts.",
    dict[str, Any]: "must be an object.",
    dict[str, Any] | None: "must be an object.",
}


_PLAIN_KEY = re.compile(r"[\w.-]{1,80}")
_MAX_SHOWN = 20


def unknown_keys(
    given: Mapping[str, Any],
    known: Collection[str],
    at: str = "",
    synonyms: Mapping[str, str] | None = None,
) -> list[str]:
    """An error for each key of an object that is not a known one, with the key that was meant.
    `at` is the path of the object; `synonyms` are names of other interfaces for a known key.
    """
    unknown = [key for key in given if key not in known]
    free = [key for key in known if key not in given]
    errors = []
    for key in unknown[:_MAX_SHOWN]:
        meant = (synonyms or {}).get(key) or find_similar(key, free)
        shown = key if _PLAIN_KEY.fullmatch(key) else repr(key[:80])
        hint = f"did you mean {meant}?" if meant in free else f"known are {', '.join(known)}."
        errors.append(f"{at}{shown}: is an unknown key; {hint}")
    # The others are only counted: a similar name takes some microseconds to find.
    return errors + ["is an unknown key."] * len(unknown[_MAX_SHOWN:])


def sentence_of(errors: list[str]) -> str:
    """All errors of a body; the first ones, if there are many."""
    more = len(errors) - _MAX_SHOWN
    end = [f"There {'is 1 more error' if more == 1 else f'are {more} more errors'}."]
    return " ".join(errors[:_MAX_SHOWN] + (end if more > 0 else []))


def read_object(body: bytes) -> dict[str, Any]:
    """The decoded body, of any type; None without a body."""
    try:
        found = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise InvalidRequest("The body is not proper JSON.") from None
    except RecursionError:
        raise InvalidRequest("The body is nested too deeply.") from None
    if not isinstance(found, dict):
        raise InvalidRequest("The body must be a JSON object.")
    return found


def read_fields(body: bytes, shape: type[S]) -> S:
    """The fields of this type; unknown keys are errors."""
    found = read_object(body)
    fields = {it.encode_name: it for it in msgspec.structs.fields(shape)}
    errors = unknown_keys(found, fields)
    for name, it in fields.items():
        if name in found and not _is_a(it.type, found[name]):
            errors.append(f"{name}: {_RULES[it.type]}")
        elif name not in found and it.required:
            errors.append(f"{name}: is missing.")
    if errors:
        raise InvalidRequest(sentence_of(errors))
    return msgspec.convert(found, shape)


def _is_a(kind: Any, value: object) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


_PREFIX = "__Host-"


_THEME = re.compile(r"(?:\A|;)\s*theme=(light|dark)\s*(?:;|\Z)")


def theme_of(request: Request) -> str:
    """The colors that `site.js` stores; without a prefix, because nothing depends on them."""
    found = _THEME.search(request.headers.get("cookie") or "")
    return "" if found is None else found[1]


def cookie_attributes(public_url: str) -> str:
    """HttpOnly and SameSite: not readable by scripts, not sent by other sites."""
    is_https = public_url.startswith("https:")
    return f"; Path=/; HttpOnly; SameSite=Lax{'; Secure' if is_https else ''}"


class Cookies:
    def __init__(self, public_url: str) -> None:
        self._prefix = _PREFIX if public_url.startswith("https:") else ""

    def received(self, request: Request) -> dict[str, str]:
        """Our own cookies, by their plain names.

        If several have the same name, it is unknown which one is ours: all are ignored.
        """
        values: dict[str, set[str]] = defaultdict(set)
        lines = [line for key, line in request.headers.items() if key == "cookie"]
        for pair in ";".join(lines).split(";"):
            name, _, value = pair.strip().partition("=")
            if name.startswith(self._prefix):
                values[name.removeprefix(self._prefix)].add(value)
        return {name: it.pop() for name, it in values.items() if len(it) == 1}

    def sent(self, response: Response) -> Response:
        """The response with prefixed cookies."""
        if not self._prefix:
            return response
        headers = [
            (key, self._prefix + value) if key == "set-cookie" else (key, value)
            for key, value in response.headers
        ]
        return response._replace(headers=headers)


def set_signed(services: Services, name: str, value: msgspec.Struct, lifetime_s: int) -> Header:
    signed = sign_value(services.signing_key, value, services.store.now_ms(), lifetime_s)
    attributes = cookie_attributes(services.settings.public_url)
    return ("set-cookie", f"{name}={signed}; Max-Age={lifetime_s}{attributes}")


def delete_cookie(services: Services, name: str) -> Header:
    return ("set-cookie", f"{name}=; Max-Age=0{cookie_attributes(services.settings.public_url)}")


def find_signed(services: Services, call: Call, name: str, shape: type[T]) -> T | None:
    signed = call.cookies.get(name, "")
    return read_signed(services.signing_key, signed, shape, services.store.now_ms())
