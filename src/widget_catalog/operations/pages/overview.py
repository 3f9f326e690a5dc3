"""The operator's overview: size and health of the catalog, and its settings."""

import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...accounts.pages.own_page import own_page
from ...core.data_folder import DataFolder
from ...core.http.call import Call
from ...core.http.http import Response
from ...core.http.services import Services
from ...core.settings import Settings, list_settings
from ..operate_catalog import view_overview

# Links of the documentation.
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


class ShownSetting(NamedTuple):
    name: str
    value: str
    about: str
    is_default: bool


def get_overview(services: Services, call: Call) -> Response:
    overview = view_overview(services.store, services.bundles, call.actor)
    disk = shutil.disk_usage(services.settings.data)
    return own_page(
        services,
        call,
        "operations/overview.html",
        overview=overview,
        lag=max(0, overview.changes - services.applied_seq()),
        disk=disk,
        files=_files_in(services.settings.data),
        settings=_shown(services.settings),
        last_backup=_last_backup(services.settings),
    )


def _last_backup(settings: Settings) -> str | None:
    """The time of the last `widget-catalog backup`; None if unknown."""
    try:
        written = DataFolder(settings.data).last_backup.read_text()
        at = datetime.fromisoformat(written)
    except (OSError, ValueError):
        return None
    return f"{at:%-d %B %Y, %H:%M} UTC"


def _files_in(folder: Path) -> list[tuple[str, int]]:
    """The files in the data folder itself, such as databases, largest first."""
    sizes = [(it.name, it.stat().st_blocks * 512) for it in folder.iterdir() if it.is_file()]
    return sorted(sizes, key=lambda it: -it[1])[:10]


def _shown(settings: Settings) -> list[ShownSetting]:
    """All settings in effect; of a secret only whether it is set."""
    shown = []
    declared = [(group, it) for group, members in list_settings().items() for it in members]
    for group, field in declared:
        value = getattr(settings if group is Settings else settings.of(group), field.name)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not field.repr:
            text = "set (hidden)" if value else ""
        about = _LINK.sub(r"\1", field.metadata["about"])
        shown.append(ShownSetting(field.name, text, about, value == field.default))
    return shown
