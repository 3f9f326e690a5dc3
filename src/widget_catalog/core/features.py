"""Feature: a capability of the catalog, as the application knows it.

The application lists its features in `app/features.py` and installs them once, before anything
else. What a feature contributes is found here by what needs it: its settings, routes, commands and
so on. A feature that is not installed is not there.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .db.tables import use_tables
from .hooks import Hooks, use_hooks
from .settings import FeatureSettings, Settings, use_settings

if TYPE_CHECKING:
    from .commands import Command
    from .data_folder import DataFolder
    from .db.engine import Store, Transaction
    from .files.contract import Bundles, Uploads
    from .http.contributions import Contributions
    from .http.dispatcher import Authentication
    from .http.http import Handler
    from .http.metrics import Reading
    from .http.public_page import PublicPart
    from .http.receiving import Receiver
    from .http.routing import Route
    from .http.services import Services

_MENUS = ("account", "operate")

Job = Callable[[], None]


class Closeable(Protocol):
    def close(self) -> None: ...


class WorkerContext(NamedTuple):
    """A worker process, for what a feature starts in it."""

    services: "Services"
    folder: "DataFolder"
    readings: "list[Reading]"
    """Its metrics, to which a feature appends its own."""


def _nothing(*_: object) -> tuple[()]:
    return ()


def value_of(name: str) -> Callable[[], Any]:
    """Imports a module and returns a value of it, when it is called: `package.module:NAME`."""
    return partial(resolve_name, name)


def call_of(name: str) -> Callable[..., Any]:
    """Imports the module of a function, and calls it, when it is called."""
    return lambda *given: resolve_name(name)(*given)


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Functions import what they need when they are called, so that commands start fast: see
    `value_of` and `call_of`.
    """

    name: str
    settings: type[FeatureSettings] | None = None
    tables: Sequence[str] = ()
    """The modules that declare its tables."""
    hooks: Callable[[], Hooks] = dict
    """What it does when something happens in features below; see `hooks.py`."""
    commands: "Sequence[Command]" = ()
    """Commands of `widget-catalog`."""
    templates: Path | None = None
    """The folder of its templates, which begin with the name of the feature: `accounts/…`."""
    links: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    """Path and label of its links in the menus `account` and `operate`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What it adds to pages of other features, by place: see `http/contributions.py: PLACES`."""
    purposes: Mapping[str, str] = field(default_factory=dict)
    """What people confirm with a fresh proof, by the first two segments of the page."""
    routes: "Callable[[], Sequence[Route]]" = _nothing
    """The routes of the internal API and of the pages that depend on the user."""
    public_pages: "Callable[..., PublicPart] | None" = None
    """Its public pages, made with the `PublicContext` of the room `pages`."""
    add_examples: "Callable[[Transaction], None]" = lambda _tx: None
    """Adds what `serve --demo` shows of it to a catalog that has nothing of it."""
    services: "Callable[[Services], Sequence[object]]" = _nothing
    """What its handlers work with, found by type with `Services.of`."""
    authentication: "Callable[[Services], Authentication] | None" = None
    """How requests are authenticated, by the one feature that does it."""
    paths: "Callable[[Services, Receiver], Mapping[str, Handler]]" = lambda _services, _receiver: {}
    """What handles all paths with a prefix, instead of routes."""
    jobs: "Callable[[Services], Sequence[Job]]" = _nothing
    """Run every ten minutes in every worker; safe to run in several at once."""
    on_start: "Callable[[Store, Bundles, Uploads], None]" = lambda *_: None
    """Completes, before a service starts, what was interrupted."""
    invite_first: "Callable[[Store], str | None]" = lambda _store: None
    """The secret of an invitation for the first account, if there is none."""
    start: Callable[[WorkerContext], Sequence[Closeable]] = _nothing
    """Starts what runs as long as a worker does."""
    facts: Callable[[Settings], Sequence[tuple[str, str]]] = _nothing
    """Label and value of what the operator's overview tells about its files."""
    readings: "Callable[[DataFolder], Sequence[Reading]]" = _nothing
    """Gauges of the whole node, read when they are asked for."""
    public_settings: Callable[[Settings], Mapping[str, Any]] = lambda _settings: {}
    """Fields of `/api/settings`; those of later features replace those of earlier ones."""
    current_settings: "Callable[[Services], Mapping[str, Any]]" = lambda _services: {}
    """Fields of `/api/settings` that are in the database: read again and again."""


_installed: tuple[Feature, ...] = ()


def install(features: Sequence[Feature]) -> None:
    """Called once at the start of a process."""
    global _installed
    _installed = tuple(features)
    use_settings([it.settings for it in features if it.settings is not None])
    use_tables([module for it in features for module in it.tables])
    use_hooks([it.hooks for it in features])


def installed() -> tuple[Feature, ...]:
    return _installed


def list_contributions() -> "Contributions":
    """What features contribute to pages."""
    from .http.contributions import PLACES, Contributions

    features = installed()
    menus = {menu: [link for it in features for link in it.links.get(menu, ())] for menu in _MENUS}
    texts = {place: [it.texts[place] for it in features if place in it.texts] for place in PLACES}
    return Contributions({it.name: it.templates for it in features if it.templates}, menus, texts)
