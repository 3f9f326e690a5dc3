"""Install: the authors' tool, offered by the catalog itself."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.features import Feature, value_of
from .settings import InstallSettings

if TYPE_CHECKING:
    from ..core.http.services import Services


def _services(services: "Services") -> Sequence[object]:
    from .packages import Packages

    return (Packages(services.settings.of(InstallSettings).tool_dependencies),)


FEATURE = Feature(
    name="install",
    settings=InstallSettings,
    templates=Path(__file__).parent / "templates",
    texts={"install_page": "/install"},
    routes=value_of("widget_catalog.install.routes:ROUTES"),
    services=_services,
)
