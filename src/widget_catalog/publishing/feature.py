"""Publishing: request, upload, confirm; then yank, deprecate, unlist."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.commands import PEOPLE, Command
from ..core.features import Feature, Job, call_of, value_of
from .commands import versions, widgets
from .settings import PublishingSettings

if TYPE_CHECKING:
    from ..core.http.http import Handler
    from ..core.http.receiving import Receiver
    from ..core.http.services import Services
    from ..core.settings import Settings


def _services(services: "Services") -> Sequence[object]:
    from .module_notes import ModuleNotes
    from .picture_checks import PictureChecks
    from .quotas import quotas_from

    return (quotas_from(services.settings), ModuleNotes(), PictureChecks())


def _public_settings(_settings: "Settings") -> Mapping[str, Any]:
    return {"accepts_files": True}


def _paths(services: "Services", receiver: "Receiver") -> "Mapping[str, Handler]":
    from .uploads import PREFIX, UploadHandler

    return {PREFIX: UploadHandler(services, receiver).handle}


def _jobs(services: "Services") -> Sequence[Job]:
    from .publish_version import tidy_uploads

    return (partial(tidy_uploads, services.store, services.bundles, services.uploads),)


FEATURE = Feature(
    name="publishing",
    templates=Path(__file__).parent / "templates",
    links={"account": (("/account/widgets", "Widgets"),)},
    purposes={
        "/account/publish": "publish a version",
        "/account/widgets": "change who can publish a widget",
    },
    tables=("widget_catalog.publishing.store",),
    settings=PublishingSettings,
    commands=(Command(widgets, PEOPLE), Command(versions, PEOPLE)),
    routes=value_of("widget_catalog.publishing.routes:ROUTES"),
    services=_services,
    public_settings=_public_settings,
    paths=_paths,
    jobs=_jobs,
    on_start=call_of("widget_catalog.publishing.publish_version:tidy_uploads"),
)
