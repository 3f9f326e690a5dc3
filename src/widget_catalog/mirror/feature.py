"""Mirror: a read-only copy of another catalog, which follows its changes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.commands import DATA, Command
from ..core.features import Feature, value_of
from .commands import mirror
from .settings import MirrorSettings

if TYPE_CHECKING:
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
                "mirror /media/disk/site --data mirror",
                "mirror --status --data mirror",
            ),
        ),
    ),
    hooks=value_of("widget_catalog.mirror.store:HOOKS"),
    current_settings=_current_settings,
)
