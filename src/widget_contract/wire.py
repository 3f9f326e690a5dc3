"""Every JSON object of the public API and of publishing. Those of one version, `resolve`, `changes`
and `revocations` are in `wire_running.py`.

The order of the fields is their order in JSON, where names are in camel case. The service encodes
these shapes, the OpenAPI document is generated from them, and clients decode them.

A new field is added at the end of its shape and has a default, so that clients can also decode
responses of older catalogs. Unknown fields are ignored.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .described import (
    API_VERSION,
    SHA256,
    count_field,
    described,
    name_field,
    time_field,
    url_field,
    version_field,
)


class Shape(Struct, frozen=True, rename="camel"):
    """A JSON object. The docstring of a shape is its description in the OpenAPI document."""


class Size(Shape, frozen=True):
    """A size on the dashboard's grid, in cells."""

    w: Annotated[int, count_field("Width.", 2, minimum=1)]
    h: Annotated[int, count_field("Height.", 1, minimum=1)]


class VersionEntry(Shape, frozen=True):
    """A published version. It is immutable, except that it may be yanked or deprecated, which can
    be undone."""

    scope: Annotated[str, name_field("Same as the widget's.", "catalog")]
    name: Annotated[str, name_field("Same as the widget's.", "clock")]
    version: Annotated[str, version_field("Version number (Semantic Versioning 2.0.0).")]
    bundle_url: Annotated[
        str,
        url_field(
            "URL of the JavaScript bundle. Use this URL; do not construct it yourself.",
            "https://catalog.example/cdn/@catalog/clock/2.0.0/index.js",
        ),
    ]
    bundle_size: Annotated[int, count_field("Size of the bundle in bytes, uncompressed.", 5515)]
    sha256_hash: Annotated[
        str,
        described(
            "SHA-256 of the bundle, in hexadecimal. Verify the bundle with it.",
            "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
            pattern=SHA256,
        ),
    ]
    published_at: Annotated[str, time_field("Time of publication.")]
    yanked: Annotated[
        bool,
        described(
            "Whether the version is yanked. A yanked version is never offered as the latest; its "
            "bundle remains available, so that running dashboards do not break.",
            False,
        ),
    ]
    yanked_reason: Annotated[
        str | None, described("Human-readable reason, if yanked.", "Shows the wrong day.")
    ]
    deprecation_message: Annotated[
        str | None,
        described("A warning to show to users of this version.", "Use 2.x from now on."),
    ]
    # The following fields come from the manifest: `manifests.Declared`, in this order.
    release_notes: Annotated[
        str | None, described("Release notes for users, often in Markdown.", "- New setting `face`")
    ]
    display_name: Annotated[str, described("Human-readable name, as of this version.", "Clock")]
    description: Annotated[
        str | None,
        described("Short description, as of this version.", "A clock for any time zone."),
    ]
    icon: Annotated[
        str | None, described("Iconify identifier, as of this version.", "mdi:clock-outline")
    ]
    min_size: Annotated[Size, described("Minimum size on the dashboard's grid.")]
    max_size: Annotated[Size, described("Maximum size on the dashboard's grid.")]
    sdk_version: Annotated[
        str, described("Range of compatible SDK versions, in npm syntax.", "^1.2.0")
    ]
    config_version: Annotated[
        int | None, described("Version of the widget's settings, for migrations.", 2)
    ]
    permissions: Annotated[
        tuple[str, ...],
        described(
            "Permissions that the widget requests: those that it declares, then those of its "
            "capabilities, such as `control:lock`.",
            ["network"],
        ),
    ]
    license: Annotated[str | None, described("License identifier, usually from SPDX.", "MIT")]


class WidgetHead(Shape, frozen=True):
    """Fields of a widget in detail, search and registry."""

    scope: Annotated[str, name_field("Publishing scope.", "catalog")]
    name: Annotated[str, name_field("Name, unique within the scope.", "clock")]
    display_name: Annotated[str, described("Human-readable name.", "Clock")]
    description: Annotated[
        str | None, described("Short description.", "A clock for any time zone.")
    ]
    icon: Annotated[str | None, described("Iconify identifier.", "mdi:clock-outline")]
    is_official: Annotated[
        bool | None,
        described("Whether the operator of this service maintains it; `null` means `false`.", True),
    ]


class Widget(WidgetHead, frozen=True):
    """A widget in its detail."""

    is_official: Annotated[
        bool, described("Whether the operator of this service maintains it.", True)
    ]
    download_count: Annotated[int, count_field("Total installs of all versions.", 18250)]
    created_at: Annotated[str, time_field("Time of creation.")]


class WidgetDetail(Shape, frozen=True):
    """A widget with all its versions."""

    widget: Widget
    versions: Annotated[
        tuple[VersionEntry, ...],
        described("All published versions, newest first, including yanked versions."),
    ]
    latest_version: Annotated[
        str | None,
        version_field("The newest version that is not yanked; `null` if there is none."),
    ]


class WidgetSummary(WidgetHead, frozen=True):
    """A widget in search results."""

    download_count: Annotated[int | None, count_field("Total installs of all versions.", 18250)]
    latest_version: Annotated[
        VersionEntry | None,
        described(
            "The newest version that is not yanked; `null` if there is none. *Newest* means "
            "published last, not the highest number."
        ),
    ]
    latest_compatible_version: Annotated[
        VersionEntry | UnsetType | None,
        described(
            "Only present if the request has `compatSdk`: the newest version that is not yanked "
            "and whose `sdkVersion` range includes that SDK; `null` if there is none."
        ),
    ] = UNSET


class SearchResults(Shape, frozen=True):
    """One page of search results."""

    widgets: Annotated[
        tuple[WidgetSummary, ...], described("The results on this page, best match first.")
    ]
    total: Annotated[int, count_field("Total number of matches on all pages.", 2)]
    page: Annotated[int, count_field("The requested page.", 1, minimum=1)]
    limit: Annotated[
        int,
        described(
            "The page size used: the requested one, but at most 100.",
            20,
            minimum=1,
            maximum=100,
        ),
    ]


class RegistryWidget(WidgetHead, frozen=True):
    """A widget in the registry of a scope."""

    latest_version: Annotated[
        str | None,
        version_field("The newest version that is not yanked; `null` if there is none."),
    ]
    versions: Annotated[
        tuple[VersionEntry, ...],
        described("All published versions, newest first, including yanked versions."),
    ]


class Registry(Shape, frozen=True):
    """All widgets of a scope in one document. It contains no download counts, so it changes only
    when the scope does."""

    version: Annotated[Literal[1], described("Version of this format, not of the API.", 1)]
    scope: Annotated[str, name_field("The scope.", "catalog")]
    generated_at: Annotated[str, time_field("Time of the last change of the scope.")]
    base_url: Annotated[
        str,
        url_field(
            "Base URL of this service's bundles, with a trailing slash.",
            "https://catalog.example/cdn/",
        ),
    ]
    widgets: Annotated[
        tuple[RegistryWidget, ...], described("The listed widgets of the scope, ordered by `name`.")
    ]


class Counted(Shape, frozen=True):
    """The download was counted."""

    success: Annotated[Literal[True], described("Always `true`.", True)] = True


class Error(Shape, frozen=True):
    """The body of every error response."""

    error: Annotated[
        str, described("A human-readable error message.", "There is no widget 'acme/x'.")
    ]


_ApiVersions = Annotated[
    tuple[Annotated[str, Meta(extra_json_schema={"pattern": API_VERSION})], ...],
    described("Supported versions of the public API.", ["v1"]),
]


class ServiceVersion(Shape, frozen=True):
    """The running release of the service."""

    version: Annotated[str, version_field("Release of the service.", "0.1.0")]
    released_at: Annotated[str, time_field("Time of the release.")]
    api_versions: _ApiVersions


class CliVersion(Shape, frozen=True):
    """Supported releases of the command-line tool."""

    min_supported: Annotated[str, version_field("Oldest release that may publish.", "0.0.0")]
    latest: Annotated[str, version_field("Newest release.", "0.1.0")]


class Stats(Shape, frozen=True):
    """The size of the catalog. Listed widgets only."""

    widgets: Annotated[int, count_field("Listed widgets.", 18)]
    versions: Annotated[int, count_field("Their published versions.", 49)]
    scopes: Annotated[int, count_field("Scopes that have a listed widget.", 4)]
    downloads: Annotated[int, count_field("Total installs.", 99670)]
    generated_at: Annotated[str, time_field("Time of the count.")]


class MirrorOf(Shape, frozen=True):
    """The catalog that a mirror copies."""

    url: Annotated[str, url_field("URL of the mirrored catalog.", "https://catalog.example")]
    id: Annotated[str, described("The id of this mirror.", "5f0c2d9e8b7a6c41")]
    through: Annotated[
        tuple[str, ...],
        described("Ids of the mirrors between that catalog and its origin.", []),
    ]


class Settings(Shape, frozen=True):
    """Settings that a client needs before sign-in. No secrets; fields may be added."""

    service_name: Annotated[str, described("Name of the service.", "Widget Catalog")]
    base_url: Annotated[str, url_field("Public URL of the service.", "https://catalog.example")]
    cdn_base_url: Annotated[
        str, url_field("Base URL of its bundles.", "https://catalog.example/cdn")
    ]
    sign_in: Annotated[tuple[Any, ...], described("Sign-in methods; empty if there are none.", [])]
    cli_client_id: Annotated[
        str, described("OAuth client id of the command-line tool.", "widget-cli")
    ]
    registration_open: Annotated[
        bool, described("Whether registration is open to everyone.", False)
    ]
    max_bundle_bytes: Annotated[int, count_field("Maximum size of a bundle, in bytes.", 2097152)]
    api_versions: _ApiVersions
    accepts_files: Annotated[
        bool,
        described("Whether a version may have README.md and screenshots, as files.", True),
    ] = False
    mirror_of: Annotated[
        MirrorOf | UnsetType,
        described("Only present on a mirror: widgets are published to another catalog."),
    ] = UNSET


class PublishScope(Shape, frozen=True):
    """A scope that an account may publish to: `type` is `personal` or `organization`."""

    name: str
    type: str
    display_name: str | None = None


class FileToUpload(Shape, frozen=True):
    """A file besides bundle and style sheet, as announced: README.md, or a picture such as
    `screenshots/light.png`."""

    path: str
    size: int
    sha256_hash: str


class PublishRequest(Shape, frozen=True, kw_only=True):
    """The request of a tool before it uploads a version. Other fields are in the manifest."""

    action: Literal["request", "check"]
    scope: str
    name: str
    display_name: str
    description: str | UnsetType = UNSET
    icon: str | UnsetType = UNSET
    min_size: Size
    max_size: Size
    sdk_version: str
    version: str
    bundle_size: int
    sha256_hash: str
    css_size: int | UnsetType = UNSET
    css_sha256_hash: str | UnsetType = UNSET
    files: tuple[FileToUpload, ...] | UnsetType = UNSET
    manifest_json: str


class UploadTargets(Shape, frozen=True):
    """Where to upload the files of a version, and where they will be published. `version_id` is
    sent back unchanged."""

    upload_url: str
    cdn_url: str
    widget_id: str
    version_id: str | int
    css_upload_url: str | UnsetType | None = UNSET
    css_url: str | UnsetType | None = UNSET
    upload_urls: dict[str, str] | UnsetType = UNSET
    """For the other files, by path."""


class Published(Shape, frozen=True):
    """The response to a confirmed version."""

    success: bool
    bundle_url: str
    css_url: str | UnsetType = UNSET
