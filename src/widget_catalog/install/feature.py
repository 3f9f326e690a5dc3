"""Install: the authors' tool, offered by the catalog itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.features import Feature, value_of
from ..core.settings import FeatureSettings, setting

if TYPE_CHECKING:
    from ..core.http.services import Services


def _is_folder(value: str) -> str | None:
    return None if not value or Path(value).is_dir() else "must be a folder."


@dataclass(frozen=True, kw_only=True)
class InstallSettings(FeatureSettings):
    tool_dependencies: str = setting(
        "",
        "A folder with wheels that [the tool depends on](operating.md#offer-the-tool-to-authors), "
        "for a network without a package index: `/install` offers them, too. Empty: they come from "
        "the index that authors' machines use.",
        rule=_is_folder,
    )


def _services(services: "Services") -> Sequence[object]:
    from .packages import Packages

    return (Packages(services.settings.of(InstallSettings).tool_dependencies),)


FEATURE = Feature(
    name="install",
    settings=InstallSettings,
    templates=Path(__file__).parent / "templates",
    texts={"install_page": "/install"},
    routes=value_of("widget_catalog.install.endpoints:ROUTES"),
    services=_services,
)
