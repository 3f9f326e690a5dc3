"""The members of a scope, for its public page. Only the room of organizations knows them."""

from collections.abc import Sequence
from typing import Protocol

from ..core.actors import Role
from ..core.db.engine import Store
from ..core.hooks import extension_point


class Member(Protocol):
    """A public member of an organization."""

    @property
    def username(self) -> str: ...

    @property
    def role(self) -> Role: ...


@extension_point
def find_public_members(_store: Store, _scope: str) -> Sequence[Member]:
    """The members whom an organization shows to everybody."""
    return ()
