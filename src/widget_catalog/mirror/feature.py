"""Mirror: a read-only copy of another catalog."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import mirror
from .settings import MirrorSettings

if TYPE_CHECKING:
    from ..core.hooks import Hooks
    from ..core.http.services import Services


def _current_settings(services: "Services") -> Mapping[str, Any]:
    from widget_contract import wire

    from .store import find_mirror

    with services.store.reading() as connection:
        source = find_mirror(connection)
    if source is None:
        return {}
    of = wire.MirrorOf(source.url, source.mirror_id, source.through)
    return {"registration_open": False, "mirror_of": of}


def _hooks() -> "Hooks":
    from .store import HOOKS

    return HOOKS


FEATURE = Feature(
    name="mirror",
    tables=("widget_catalog.mirror.store",),
    settings=MirrorSettings,
    commands=(
        Command(
            mirror,
            DATA,
            (
                "mirror https://catalog.example --data mirror",
                "mirror https://catalog.example --scope acme --official --follow",
                "mirror --status --data mirror",
            ),
        ),
    ),
    hooks=_hooks,
    current_settings=_current_settings,
)
