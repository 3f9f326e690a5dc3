"""Shapes of the wire for those who run widgets: one version in full, what to do about many, what
has changed, what must not run. The rules of `wire.py` hold."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, UnsetType

from .described import count_field, described, time_field, url_field, version_field
from .patterns import COMPAT_SDK, INTEGRITY, SEMVER_MAX_LENGTH, SHA256, WIDGET_ID
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
    """Something that happened to a widget. Of one that is not listed, only its id is given."""

    seq: Annotated[int, count_field("Its number. There are no gaps.", 4711, minimum=1)]
    at: Annotated[str, time_field("When it happened.")]
    type: Annotated[
        ChangeType,
        described(
            "`published`: a version, or several by an import. `unyanked`: also if a revocation was "
            "taken back. `text`: the name, description or icon of the widget is another one.",
            "published",
        ),
    ]
    id: Annotated[
        str, described("The widget, as `scope/name`.", "catalog/clock", pattern=WIDGET_ID)
    ]
    version: Annotated[
        str | None,
        version_field("The version that it happened to; `null`: to the widget, or to several."),
    ]
    listed: Annotated[bool, described("Whether the widget is listed now.", True)]


class Changes(Shape, frozen=True):
    """A page of the feed, oldest first."""

    changes: Annotated[tuple[Change, ...], described("What happened after `since`.")]
    next: Annotated[int, count_field("Ask with this as `since` for what comes after.", 4711)]
    newest: Annotated[
        int, count_field("Number of the newest change: where `next` is less, there is more.", 4711)
    ]


class Revocation(Shape, frozen=True):
    """A bundle that must not run."""

    sha256_hash: Annotated[
        str,
        described(
            "SHA-256 of the bundle, in hexadecimal. Do not run what has it, wherever it is from.",
            "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
            pattern=SHA256,
        ),
    ]
    id: Annotated[
        str, described("The widget, as `scope/name`.", "catalog/clock", pattern=WIDGET_ID)
    ]
    version: Annotated[str, version_field("The version that was revoked.")]
    reason: Annotated[str, described("Why, for people.", "It sends settings to a stranger.")]
    at: Annotated[str, time_field("When it was revoked.")]


class Revocations(Shape, frozen=True):
    """All bundles that must not run, of listed and unlisted widgets."""

    revision: Annotated[
        int,
        count_field("Number of the newest change that this answer knows of: see `changes`.", 4711),
    ]
    revocations: Annotated[tuple[Revocation, ...], described("The newest first.")]


class PublishedFile(Shape, frozen=True):
    """A file of a version."""

    path: Annotated[str, described("Its name.", "index.js")]
    url: Annotated[
        str,
        url_field("Where it is.", "https://catalog.example/cdn/@catalog/clock/2.0.0/index.js"),
    ]
    size: Annotated[int, count_field("Its size in bytes, not compressed.", 5515)]
    sha256_hash: Annotated[
        str,
        described(
            "Its SHA-256, in hexadecimal.",
            "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
            pattern=SHA256,
        ),
    ]
    integrity: Annotated[
        str,
        described(
            "The same for an `integrity` attribute.",
            "sha256-yBwr2YMsoECvCuBgsl0V+/78hDuEN1zotF9erjDnEXQ=",
            pattern=INTEGRITY,
        ),
    ]
    content_type: Annotated[str, described("Its media type.", "text/javascript")]


class RevokedState(Shape, frozen=True):
    """Why and when a version was revoked: its bundle must not run."""

    reason: Annotated[str, described("Why, for people.", "It sends settings to a stranger.")]
    at: Annotated[str, time_field("When.")]


class VersionDetail(Shape, frozen=True):
    """Everything about one version."""

    widget: Widget
    version: VersionEntry
    manifest: Annotated[
        dict[str, Any] | None,
        described(
            "The manifest as it was published, with keys that this catalog does not know. `null` "
            "for versions that were imported without one.",
        ),
    ]
    files: Annotated[
        tuple[PublishedFile, ...], described("The bundle, and the style sheet if there is one.")
    ]
    permissions_added: Annotated[
        tuple[str, ...],
        described("What it asks for and `previousVersion` did not.", ["network"]),
    ]
    permissions_removed: Annotated[
        tuple[str, ...], described("What `previousVersion` asked for and this does not.", [])
    ]
    previous_version: Annotated[
        str | None,
        version_field("The version published before it that is not yanked, if any.", "1.1.0"),
    ]
    revoked: Annotated[
        RevokedState | None, described("Set if the bundle must not run; `null` otherwise.")
    ]


class InstalledWidget(Shape, frozen=True):
    """A widget that a dashboard has, or wants."""

    id: Annotated[
        str, described("The widget, as `scope/name`.", "catalog/clock", pattern=WIDGET_ID)
    ]
    installed: Annotated[
        str | UnsetType | None,
        described(
            "The version that is installed, if any.",
            "1.2.0",
            pattern=COMPAT_SDK,
            maxLength=SEMVER_MAX_LENGTH,
        ),
    ] = UNSET
    range: Annotated[
        str | UnsetType | None,
        described("Only versions in this range, in npm's grammar.", "^1.0.0", maxLength=1024),
    ] = UNSET


class ResolveRequest(Shape, frozen=True):
    """What a dashboard runs, and what it has. Other keys are ignored."""

    sdk: Annotated[
        str,
        described(
            "Version of the SDK: the one that runs, or one to upgrade to.",
            "2.1.0",
            pattern=COMPAT_SDK,
            maxLength=SEMVER_MAX_LENGTH,
        ),
    ]
    widgets: Annotated[tuple[InstalledWidget, ...], described("At most 500.", maxItems=500)]
    min_age_days: Annotated[
        float | UnsetType | None,
        described(
            "Offer no version that was published within so many days. What is installed stays.",
            3,
            minimum=0,
            maximum=36500,
        ),
    ] = UNSET


ResolveStatus = Literal[
    "current", "update", "install", "incompatible", "yanked", "revoked", "unlisted", "unknown"
]


class ResolveResult(Shape, frozen=True):
    """What to do about one widget."""

    id: Annotated[str, described("The requested widget.", "catalog/clock", pattern=WIDGET_ID)]
    status: Annotated[
        ResolveStatus,
        described(
            "`current`: what is installed is what would be offered. `update`: there is another, "
            "newer one to go to. `install`: nothing is installed, and there is an offer. "
            "`incompatible`: neither what is installed nor anything newer fits the SDK and the "
            "range; if an older version does, it is the offer. `yanked`: what is installed was "
            "taken back. `revoked`: what is installed must not run; unload it. `unlisted`: the "
            "widget is no longer listed. `unknown`: there is no such widget.",
            "update",
        ),
    ]
    installed: Annotated[
        VersionEntry | None, described("What is installed, if the catalog knows it.")
    ]
    offer: Annotated[
        VersionEntry | None,
        described(
            "The newest version that fits: compatible, neither yanked nor revoked, in the range, "
            "old enough."
        ),
    ]
    latest_version: Annotated[
        str | None,
        version_field("Number of the newest version that is not yanked, whether it fits or not."),
    ]
    permissions_added: Annotated[
        tuple[str, ...],
        described("What the offer asks for and the installed version does not.", ["network"]),
    ]
    permissions_removed: Annotated[
        tuple[str, ...],
        described("What the installed version asks for and the offer does not.", []),
    ]
    message: Annotated[
        str,
        described(
            "A message to show to users.", "catalog/clock can be updated from 1.2.0 to 2.0.0."
        ),
    ]


class Resolved(Shape, frozen=True):
    """What to do about every requested widget."""

    sdk: Annotated[str, version_field("The requested SDK.", "2.1.0")]
    revision: Annotated[
        int,
        count_field("Number of the newest change that this answer knows of: see `changes`.", 4711),
    ]
    results: Annotated[tuple[ResolveResult, ...], described("In the order of the request.")]
