"""Events: every kind of change in the catalog, each a small frozen value.

Those of widgets are here, those of people in `accounts/events.py`. An event is written to the audit
log and, if it is public, to the change feed: see `store/events.py`. `kind` is its name in both;
`action` is its name in the audit log for people. The fields besides scope, name and version are
the details of its entry, in this order. Kinds are permanent: an event that no longer occurs stays
here, so that old entries can be shown.
"""

from types import ModuleType
from typing import ClassVar

import msgspec

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


class PublicEvent(Event, frozen=True, kw_only=True):
    """A public event of a widget."""

    scope: str
    name: str


class VersionEvent(PublicEvent, frozen=True, kw_only=True):
    version: str


class Published(VersionEvent, frozen=True):
    kind = "published"
    action = "publish"

    sha256_hash: str
    bundle_size: int
    css_sha256_hash: str | None = None
    css_size: int | None = None


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


class MirroringBegun(Event, frozen=True):
    """The catalog became a copy of another one."""

    kind = "mirroring begun"
    action = "begin mirroring"

    url: str


class CatalogMirrored(Event, frozen=True):
    """A round copied the upstream's changes; with a scope, those in it, for the owner of the
    scope.
    """

    kind = "mirrored"
    action = "mirror"

    url: str
    widgets_changed: int


class MirroringEnded(Event, frozen=True):
    kind = "mirroring ended"
    action = "end mirroring"

    url: str


class PublishersChanged(Event, frozen=True):
    kind = "publishers"
    action = "name publishers"

    publishers: list[str]


def actions_in(*modules: ModuleType) -> dict[str, str]:
    """The names, in the audit log, of all kinds of events defined in these modules."""
    defined = [it for module in modules for it in vars(module).values()]
    kinds = [it for it in defined if isinstance(it, type) and issubclass(it, Event)]
    return {it.kind: it.action for it in kinds if "kind" in vars(it) and it.action is not None}
