"""Call: a request with its context and decoded body, which handlers work with."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import parse_qsl, urlencode

import msgspec

from ..actors import Actor, Via, Visitor
from ..credentials import hash_secret
from ..errors import InvalidRequest, NotSignedIn
from .body_fields import read_fields
from .cookies import COOKIE
from .http import Request
from .multipart_form import FormFile

S = TypeVar("S", bound=msgspec.Struct)

OAUTH_BASE = "/api/auth/oauth2"
_MAX_FIELDS = 100


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
