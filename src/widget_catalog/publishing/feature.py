"""Publishing: request, upload, confirm; then yank, deprecate, unlist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.commands import PEOPLE, Command
from ..core.features import Feature, Job, call_of, value_of
from ..core.setting_rules import between
from ..core.settings import FeatureSettings, setting
from .commands import versions, widgets

if TYPE_CHECKING:
    from ..core.http.call import Services
    from ..core.http.http import Handler
    from ..core.http.receiving import Receiver
    from ..core.settings import Settings


@dataclass(frozen=True, kw_only=True)
class PublishingSettings(FeatureSettings):
    max_new_widgets_per_day: int = setting(
        50,
        "New widgets that an account may publish within 24 hours; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    max_versions_per_hour: int = setting(
        100,
        "Versions that an account may publish within 60 minutes; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    max_bytes_per_day: int = setting(
        268435456,
        "Bytes (files and manifests) that an account may publish within 24 hours; `0`: no limit.",
        rule=between(0, 1 << 60),
    )
    max_changes_per_hour: int = setting(
        1000,
        "Changes to widgets that an account may make within 60 minutes: yank, deprecate, "
        "list, unlist, name publishers; and, counted separately, of other kinds; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    max_open_requests: int = setting(
        50,
        "Unconfirmed publish requests that an account may have; `0`: no limit.",
        rule=between(0, 1 << 40),
    )


def _services(services: "Services") -> Sequence[object]:
    from .module_notes import ModuleNotes
    from .picture_checks import PictureChecks
    from .quotas import quotas_from

    return (quotas_from(services.settings), ModuleNotes(), PictureChecks())


def _public_settings(_settings: "Settings") -> Mapping[str, Any]:
    return {"accepts_files": True}


def _paths(services: "Services", receiver: "Receiver") -> "Mapping[str, Handler]":
    from .uploads import PREFIX, Uploads

    return {PREFIX: Uploads(services, receiver).handle}


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
