"""Events: every kind of change in the catalog, each a small frozen value.

Those of widgets and scopes are here, all others in the `events.py` of their room. An event is
written to the audit log and, if it is public, to the change feed, and rooms above can act on it
with a hook: see `store/events.py`. `kind` is its name in both; `action` is its name in the audit
log for people. The fields besides scope, name and version are
the details of its entry, in this order. Kinds are permanent: an event that no longer occurs stays
here, so that old entries can be shown.
"""

from typing import ClassVar

import msgspec

from ...core import hooks

_SUBJECT = ("scope", "name", "version")


class Event(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An event in a scope or of the catalog."""

    kind: ClassVar[str]
    action: ClassVar[str | None]
    """None: it is not in the audit log."""

    scope: str | None = None
    name: str | None = None
    version: str | None = None

    def details(self) -> dict[str, object]:
        """The fields other than scope, name and version."""
        fields = [it for it in msgspec.structs.fields(self) if it.name not in _SUBJECT]
        values = ((it.encode_name, getattr(self, it.name), it.default) for it in fields)
        return {key: value for key, value, default in values if value != default}


class ScopeEvent(Event, frozen=True, kw_only=True):
    scope: str


class PublicEvent(ScopeEvent, frozen=True, kw_only=True):
    """A public event of a widget."""

    name: str


class VersionEvent(PublicEvent, frozen=True, kw_only=True):
    version: str


class PublishBegun(ScopeEvent, frozen=True, kw_only=True):
    """A version of this widget is about to be requested or published. Only for hooks."""

    kind = "publish_begun"
    action = None

    name: str


class Published(VersionEvent, frozen=True):
    kind = "published"
    action = "publish"

    sha256_hash: str
    bundle_size: int
    css_sha256_hash: str | None = None
    css_size: int | None = None
    files: list[str] | None = None
    """The paths of its README and pictures."""


class Yanked(VersionEvent, frozen=True):
    kind = "yanked"
    action = "yank"

    reason: str


class Unyanked(VersionEvent, frozen=True):
    kind = "unyanked"
    action = "unyank"


class Deprecated(VersionEvent, frozen=True):
    kind = "deprecated"
    action = "deprecate"

    message: str


class Undeprecated(VersionEvent, frozen=True):
    kind = "undeprecated"
    action = "undeprecate"


class Revoked(VersionEvent, frozen=True):
    """By the operator: its bundle must not run."""

    kind = "revoked"
    action = "revoke"

    reason: str
    everywhere: bool = False
    """With all other versions that have the same bundle."""


class Unrevoked(VersionEvent, frozen=True):
    kind = "unrevoked"
    action = "unrevoke"


class Redated(VersionEvent, frozen=True):
    """The clock was ahead when it was published; both times are in the API's format."""

    kind = "redated"
    action = "redate"

    before: str
    after: str


class Listed(PublicEvent, frozen=True):
    kind = "listed"
    action = "list"

    reason: str | None = None


class Unlisted(PublicEvent, frozen=True):
    kind = "unlisted"
    action = "unlist"

    reason: str | None = None


class MadeOfficial(PublicEvent, frozen=True):
    kind = "official"
    action = "make official"


class MadeUnofficial(PublicEvent, frozen=True):
    kind = "unofficial"
    action = "make unofficial"


class TextChanged(PublicEvent, frozen=True):
    """The widget's display name, description or icon has changed with its newest version."""

    kind = "text"
    action = None


class Imported(PublicEvent, frozen=True):
    """Versions were imported: this one; or, if none is named, several or a widget without any. The
    audit log has one entry for the import as a whole.
    """

    kind = "imported"
    action = None


class CatalogImported(Event, frozen=True):
    """A file was imported; with a scope, its changes there, for the owners of the scope."""

    kind = "import"
    action = "import"

    file: str
    widgets_added: int
    versions_added: int
    versions_skipped: int | None = None
    bundles_stored: int | None = None
    official_added: int | None = None
    texts_cleaned: int | None = None


class PublishersChanged(Event, frozen=True):
    kind = "publishers"
    action = "name publishers"

    publishers: list[str]


class ScopeReserved(Event, frozen=True):
    kind = "scope_reserved"
    action = "reserve scope"


class ScopeAssigned(Event, frozen=True):
    """A scope with widgets but no owner became an organization of this member."""

    kind = "scope_assigned"
    action = "assign scope"

    member: str
    widgets: int
    installs: int


class ScopeReleased(ScopeEvent, frozen=True):
    """Ends the history of a scope; the next owner of its name is unrelated."""

    kind = "scope_released"
    action = "release scope"

    was: str
    members: list[str] | None = None


def list_actions() -> dict[str, str]:
    """The names, in the audit log, of the kinds of events of all rooms."""
    hooks.load()
    return {it.kind: it.action for it in list_kinds() if it.action is not None}


def list_kinds() -> list[type[Event]]:
    """Every kind of event whose room is loaded."""
    found, left = [], [Event]
    while left:
        event_type = left.pop()
        left += event_type.__subclasses__()
        if "kind" in vars(event_type):
            found.append(event_type)
    return found
