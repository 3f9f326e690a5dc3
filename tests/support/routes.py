"""The routes of the service, by kind; and what rooms that can be removed tell about theirs."""

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from widget_catalog.accounts.routes import ROUTES as ACCOUNT_ROUTES
from widget_catalog.app.features import install_features
from widget_catalog.app.worker import list_routes
from widget_catalog.core.features import installed
from widget_catalog.core.http.routing import AuthMode, Routes, Who

install_features()

_TESTS = Path(__file__).parents[1]
# Python has a module of this name.
_FOLDERS = {"collections": "widget_collections"}


class Form(NamedTuple):
    """A form that is rejected. `typed`: the fields and their values; `wrong`: the ids of those that
    are rejected.
    """

    who: str
    page: str
    typed: dict[str, str]
    wrong: tuple[str, ...]
    action: str = ""
    prefix: str = ""


def of_rooms(file: str) -> list[ModuleType]:
    """What the tests of installed rooms have in a file of this name, for tests across rooms."""
    folders = [_FOLDERS.get(it.name, it.name) for it in installed()]
    found = [it for it in folders if (_TESTS / it / f"{file}.py").exists()]
    return [import_module(f"{folder}.{file}") for folder in found]


_PAGES = (AuthMode.PAGE, AuthMode.ANONYMOUS_PAGE)

ALL = list_routes()
API = Routes([it for it in ALL.all if it.auth not in _PAGES])
"""The internal API."""
ACCOUNT_PAGES = tuple(
    route
    for route in ALL.all
    if route.auth in _PAGES
    and (route in ACCOUNT_ROUTES or route.path == "/invitation")
    and route.needs is not Who.OPERATOR
)
"""The pages of a person's own account, and of signing in."""
WORK_PAGES = tuple(it for it in ALL.all if it.auth is AuthMode.PAGE and it not in ACCOUNT_PAGES)
"""The pages of authors and of operators."""


def list_own_pages() -> list[str]:
    """The addresses of pages for signed-in people, for browser tests; operators can see all."""
    clock = "/account/widgets/acme/clock"
    return [
        "/account",
        "/account/widgets",
        clock,
        f"{clock}/versions/1.0.0",
        f"{clock}/audit",
        "/account/organizations",
        "/account/organizations/acme",
        "/account/second-factor",
        "/account/publish",
        "/account/tokens/new",
        "/account/password",
        "/account/close",
        "/device",
        "/operate",
        "/operate/audit",
        "/operate/accounts",
        "/operate/accounts/ann",
        "/operate/invitations",
        "/operate/widgets",
        *(it for room in of_rooms("declared_routes") for it in room.PAGES),
    ]
