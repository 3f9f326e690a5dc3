"""JSON objects for dashboards that run widgets: one version in full, resolve, changes, revocations.
The rules of `wire.py` apply."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, UnsetType

from .described import (
    COMPAT_SDK,
    DOMAIN,
    DOMAIN_MAX_LENGTH,
    INTEGRITY,
    SEMVER_MAX_LENGTH,
    SHA256,
    WIDGET_ID,
    count_field,
    described,
    time_field,
    url_field,
    version_field,
)
from .manifest_details import DeclaredDetails
from .wire import Shape, VersionEntry, Widget

ChangeType = Literal[
    "published",
    "yanked",
    "unyanked",
    "deprecated",
    "undeprecated",
    "listed",
    "unlisted",
    "official",
    "unofficial",
    "revoked",
    "text",
]


class Change(Shape, frozen=True):
    """A change of a widget. If the widget is not listed, only its id is given."""

    seq: Annotated[int, count_field("Sequence number, without gaps.", 4711, minimum=1)]
    at: Annotated[str, time_field("Time of the change.")]
    type: Annotated[
        ChangeType,
        described(
            "`published`: a version, or several by an import. `unyanked`: also if a revocation was "
            "undone. `text`: the display name, description or icon of the widget has changed.",
            "published",
        ),
    ]
    id: Annotated[
        str, described("The widget, as `scope/name`.", "catalog/clock", pattern=WIDGET_ID)
    ]
    version: Annotated[
        str | None,
        version_field(
            "The changed version; `null` if the change affects the widget, or several versions."
        ),
    ]
    listed: Annotated[bool, described("Whether the widget is currently listed.", True)]


class Changes(Shape, frozen=True):
    """A page of the feed, oldest first."""

    changes: Annotated[tuple[Change, ...], described("The changes after `since`.")]
    next: Annotated[int, count_field("The value of `since` for the next request.", 4711)]
    newest: Annotated[
        int, count_field("Number of the newest change. If `next` is less, there are more.", 4711)
    ]


class Revocation(Shape, frozen=True):
    """A version that must not run: compare `id` and `version`."""

    sha256_hash: Annotated[
        str,
        described(
            "SHA-256 of the bundle, in hexadecimal. Other widgets may have the same bundle: they "
            "are revoked only if they are listed, too.",
            "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
            pattern=SHA256,
        ),
    ]
    id: Annotated[
        str, described("The widget, as `scope/name`.", "catalog/clock", pattern=WIDGET_ID)
    ]
    version: Annotated[str, version_field("The revoked version.")]
    reason: Annotated[str, described("Human-readable reason.", "It sends settings to a stranger.")]
    at: Annotated[str, time_field("Time of the revocation.")]


class Revocations(Shape, frozen=True):
    """All versions that must not run, of listed and unlisted widgets."""

    revision: Annotated[
        int,
        count_field(
            "Number of the newest change that this response includes: see `changes`.", 4711
        ),
    ]
    revocations: Annotated[tuple[Revocation, ...], described("The revocations, newest first.")]


class PublishedFile(Shape, frozen=True):
    """A file of a version."""

    path: Annotated[
        str,
        described(
            "`index.js` is the bundle, `index.css` the style sheet. Pictures are "
            "`screenshots/{name}.{png,jpg,webp}`, each followed by its thumbnail, "
            "`screenshots/{name}.thumb.webp`, at most 640 pixels wide.",
            "index.js",
            "index.css",
            "README.md",
            "screenshots/light.png",
        ),
    ]
    url: Annotated[
        str,
        url_field("URL of the file.", "https://catalog.example/cdn/@catalog/clock/2.0.0/index.js"),
    ]
    size: Annotated[int, count_field("Size in bytes, uncompressed.", 5515)]
    sha256_hash: Annotated[
        str,
        described(
            "SHA-256, in hexadecimal.",
            "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
            pattern=SHA256,
        ),
    ]
    integrity: Annotated[
        str,
        described(
            "The hash as the value of an `integrity` attribute.",
            "sha256-yBwr2YMsoECvCuBgsl0V+/78hDuEN1zotF9erjDnEXQ=",
            pattern=INTEGRITY,
        ),
    ]
    content_type: Annotated[
        str, described("Media type.", "text/javascript", "text/css", "text/markdown", "image/png")
    ]
    width: Annotated[
        int | UnsetType, count_field("Width of a picture as shown, in pixels.", 1280, minimum=1)
    ] = UNSET
    height: Annotated[
        int | UnsetType, count_field("Height of a picture as shown, in pixels.", 800, minimum=1)
    ] = UNSET


class RevokedState(Shape, frozen=True):
    """The revocation of a version: its bundle must not run."""

    reason: Annotated[str, described("Human-readable reason.", "It sends settings to a stranger.")]
    at: Annotated[str, time_field("Time of the revocation.")]


class Capability(Shape, frozen=True):
    """Access to one kind of thing, which the widget requests in its manifest."""

    domain: Annotated[
        str, described("The kind of thing.", "lock", pattern=DOMAIN, maxLength=DOMAIN_MAX_LENGTH)
    ]
    access: Annotated[
        Literal["read", "control"],
        described("`read`: its state. `control`: also to change it.", "control"),
    ]
    entities: Annotated[
        tuple[str, ...] | UnsetType,
        described(
            "Only for these entities. `*` stands for any letters, digits and `_`. If absent: for "
            "all entities of the domain.",
            ["lock.front_*"],
        ),
    ] = UNSET
    services: Annotated[
        tuple[str, ...] | UnsetType,
        described("Only with these services. If absent: with all.", ["unlock"]),
    ] = UNSET


class VersionDetail(DeclaredDetails, frozen=True):
    """A version in full."""

    widget: Widget
    version: VersionEntry
    manifest: Annotated[
        dict[str, Any] | None,
        described(
            "The manifest as published, including unknown keys. `null` for versions that were "
            "imported without one.",
        ),
    ]
    files: Annotated[
        tuple[PublishedFile, ...],
        described("The bundle, then what there is of style sheet, README and pictures."),
    ]
    permissions_added: Annotated[
        tuple[str, ...],
        described(
            "Permissions that `previousVersion` did not request. A capability that is narrowed "
            "less than before counts as added.",
            ["network"],
        ),
    ]
    permissions_removed: Annotated[
        tuple[str, ...], described("Permissions that only `previousVersion` requested.", [])
    ]
    previous_version: Annotated[
        str | None,
        version_field("The previous version that is not yanked, if any.", "1.1.0"),
    ]
    revoked: Annotated[
        RevokedState | None, described("Set if the version is revoked; `null` otherwise.")
    ]
    capabilities: Annotated[
        tuple[Capability, ...],
        described(
            "The capabilities of the manifest, in full. Each is also among the permissions, as "
            "`control:lock`."
        ),
    ] = ()


class InstalledWidget(Shape, frozen=True):
    """A widget that is installed, or to be installed."""

    id: Annotated[
        str, described("The widget, as `scope/name`.", "catalog/clock", pattern=WIDGET_ID)
    ]
    installed: Annotated[
        str | UnsetType | None,
        described(
            "The installed version, if any.",
            "1.2.0",
            pattern=COMPAT_SDK,
            maxLength=SEMVER_MAX_LENGTH,
        ),
    ] = UNSET
    range: Annotated[
        str | UnsetType | None,
        described("Only versions in this range, in npm syntax.", "^1.0.0", maxLength=1024),
    ] = UNSET


class ResolveRequest(Shape, frozen=True):
    """The SDK and the widgets of a dashboard. Unknown keys are rejected."""

    sdk: Annotated[
        str,
        described(
            "Version of the SDK: the current one, or one to upgrade to.",
            "2.1.0",
            pattern=COMPAT_SDK,
            maxLength=SEMVER_MAX_LENGTH,
        ),
    ]
    widgets: Annotated[
        tuple[InstalledWidget, ...], described("The widgets, at most 500.", maxItems=500)
    ]
    min_age_days: Annotated[
        float | UnsetType | None,
        described(
            "Do not offer versions newer than this many days. Installed versions are kept.",
            3,
            minimum=0,
            maximum=36500,
        ),
    ] = UNSET


ResolveStatus = Literal[
    "current", "update", "install", "incompatible", "yanked", "revoked", "unlisted", "unknown"
]


class OfferedVersion(VersionEntry, frozen=True):
    """A `VersionEntry`, with the style sheet of the version."""

    css_url: Annotated[
        str | UnsetType,
        url_field(
            "URL of the style sheet, if the version has one.",
            "https://catalog.example/cdn/@catalog/clock/2.0.0/index.css",
        ),
    ] = UNSET


class ConfigVersionChange(Shape, frozen=True):
    """Another version of the widget's settings. `null`: the manifest states none."""

    from_: Annotated[int | None, described("Of the installed version.", 1)]
    to: Annotated[int | None, described("Of the offer.", 2)]


class ResolveResult(Shape, frozen=True):
    """The result for one widget."""

    id: Annotated[str, described("The widget, as requested.", "catalog/clock", pattern=WIDGET_ID)]
    status: Annotated[
        ResolveStatus,
        described(
            "`current`: the installed version is up to date. `update`: a newer version is offered. "
            "`install`: nothing is installed, and a version is offered. `incompatible`: neither "
            "the installed version nor a newer one is compatible with the SDK and in the range; "
            "if an older version is, it is offered. `yanked`: the installed version was yanked. "
            "`revoked`: the installed version must not run; unload it. `unlisted`: the widget is "
            "no longer listed. `unknown`: the widget does not exist.",
            "update",
        ),
    ]
    installed: Annotated[
        VersionEntry | None, described("The installed version, if the catalog has it.")
    ]
    offer: Annotated[
        OfferedVersion | None,
        described(
            "The newest version that is compatible, neither yanked nor revoked, in the range, and "
            "old enough."
        ),
    ]
    latest_version: Annotated[
        str | None,
        version_field("The newest version that is not yanked, whether compatible or not."),
    ]
    permissions_added: Annotated[
        tuple[str, ...],
        described(
            "Permissions that the offer requests and the installed version does not. A capability "
            "that is narrowed less than before counts as added.",
            ["network"],
        ),
    ]
    permissions_removed: Annotated[
        tuple[str, ...],
        described("Permissions that the installed version requests and the offer does not.", []),
    ]
    message: Annotated[
        str,
        described("A human-readable message.", "catalog/clock can be updated from 1.2.0 to 2.0.0."),
    ]
    config_version_change: Annotated[
        ConfigVersionChange | None,
        described(
            "Set if the offer has another `configVersion` than the installed version, so that its "
            "settings may need a migration."
        ),
    ] = None


class Resolved(Shape, frozen=True):
    """The results for all requested widgets."""

    sdk: Annotated[str, version_field("The SDK, as requested.", "2.1.0")]
    revision: Annotated[
        int,
        count_field(
            "Number of the newest change that this response includes: see `changes`.", 4711
        ),
    ]
    results: Annotated[
        tuple[ResolveResult, ...], described("The results, in the order of the request.")
    ]
