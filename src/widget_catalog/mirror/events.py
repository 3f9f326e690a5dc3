"""Events of mirrors."""

from ..catalog.events import Event


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
