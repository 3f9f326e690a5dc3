"""Routes: which handler serves a request, and who may use it."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ..actors import Right
from .call import Call
from .http import Response
from .services import Services

T = TypeVar("T")

Handler = Callable[[Services, Call], Response]


class InTurn(Protocol):
    """Runs a function in a thread of the publishing pool when it is the account's turn."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]: ...


Preparation = Callable[[Services, Call, InTurn], AbstractAsyncContextManager[None]]

_SMALL = 16_384
UNSAFE_METHODS = ("POST", "PUT", "PATCH", "DELETE")


class Who(StrEnum):
    """Who may use a route. Authorization is checked by the action."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"
    PERSON = "a person, or a program that acts as one"
    BROWSER = "a person with a session"
    OPERATOR = "the operator"


class AuthMode(StrEnum):
    """How a route authenticates requests, and how it refuses them."""

    API = "by token or session; an error in JSON"
    SIGN_IN = "nobody is known; an error in JSON"
    OAUTH = "nobody is known; a form; an error in OAuth's way"
    PAGE = "by session alone; a page, or the way to sign in"
    ANONYMOUS_PAGE = "nobody is known; a page"


class StepUp(StrEnum):
    """What a session must prove to do something that outlives it or cannot be undone.

    Programs and access tokens are no sessions: what they may do was decided when a person with a
    session authorized them.
    """

    NONE = "the session is enough"
    FACTOR = "the second factor within ten minutes, if the person has one"
    FRESH = "a sign-in or confirmation within ten minutes, with the second factor if there is one"


class Route(NamedTuple):
    """`needs` declares the required permission, for readers and for the test that checks every
    route.

    A permission applies to the scope in the path or, for `publish`, in the body. People who lack a
    required second factor can use only routes `without_factor`.
    """

    method: str
    path: str
    handler: Handler
    needs: Who | Right
    max_body: int = _SMALL
    auth: AuthMode = AuthMode.API
    hashes: bool = False
    """Whether the handler hashes a password: it then runs in the small pool for that."""
    without_factor: bool = False
    writes_on_get: bool = False
    step_up: StepUp = StepUp.NONE
    """What a session must have proved recently. Declared for everything that outlives the session
    or cannot be undone, and for the pages that lead there.
    """
    takes_files: bool = False
    """Whether its form may bring files along, which are not part of `max_body`."""

    prepares: Preparation | None = None
    """What is done around the handler with content that its author has sent, without holding a
    thread while others come first. It may fill `Call.prepared`, and refuse. A handler that writes
    then runs in the publishing pool.
    """

    @property
    def writes(self) -> bool:
        """Whether the handler may have to wait for other writers."""
        return self.method != "GET" or self.writes_on_get

    @property
    def takes_form(self) -> bool:
        return self.auth not in (AuthMode.API, AuthMode.SIGN_IN)


def page(
    method: str,
    path: str,
    handler: Handler,
    needs: Who | Right,
    auth: AuthMode = AuthMode.PAGE,
    **more: Any,
) -> Route:
    """A page that depends on the user, or a form of one."""
    return Route(method, path, handler, needs, auth=auth, **more)


class AnyRoute(Protocol):
    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str:
        """Parts in braces are values: `/widgets/{scope}/{name}`."""


R = TypeVar("R", bound=AnyRoute)


class Found(NamedTuple, Generic[R]):
    """The routes of a path by method, and its parameters."""

    methods: dict[str, R]
    params: dict[str, str]


class Routes(Generic[R]):
    """A route table, of the API or of the pages."""

    def __init__(self, routes: Sequence[R]) -> None:
        self.all = tuple(routes)
        # By the number of segments and the first of them, which is never a parameter.
        self._by_start: dict[tuple[int, str], dict[tuple[str, ...], dict[str, R]]] = {}
        for route in routes:
            parts = tuple(route.path.split("/"))
            known = self._by_start.setdefault((len(parts), parts[1]), {})
            known.setdefault(parts, {})[route.method] = route

    def find(self, path: str) -> Found[R] | None:
        """The routes of a path. Literal segments precede parameters, in table order."""
        parts = path.split("/")
        start = (len(parts), parts[1] if len(parts) > 1 else "")
        for wanted, methods in self._by_start.get(start, {}).items():
            params = {}
            for want, have in zip(wanted, parts, strict=True):
                if want.startswith("{"):
                    if not have.isprintable() or not have:  # Never a valid name.
                        break
                    params[want[1:-1]] = have
                elif want != have:
                    break
            else:
                return Found(methods, params)
        return None


def allowed(methods: dict[str, R]) -> str:
    """The methods of a path, for `Allow`. HEAD is allowed wherever GET is."""
    return ", ".join(sorted({*methods, *(["HEAD"] if "GET" in methods else [])}))
