"""The shapes of the wire: every JSON object of the public API and of publishing, once. Those of
one version, `resolve`, `changes` and `revocations` are in `wire_running.py`.

The order of the fields is their order on the wire, where names are in camel case. The service
writes these shapes, the OpenAPI document is generated from them, and clients read them.

A field that is new in a release stands last in its shape and has a default, so that a client
also reads what an older catalog sends. Unknown fields are skipped.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .described import count_field, described, name_field, time_field, url_field, version_field
from .patterns import API_VERSION, SHA256


class Shape(Struct, frozen=True, rename="camel"):
    """An object on the wire. The docstring of a shape documents it for clients."""


class Size(Shape, frozen=True):
    """A size on the dashboard's grid, in cells."""

    w: Annotated[int, count_field("Width.", 2, minimum=1)]
    h: Annotated[int, count_field("Height.", 1, minimum=1)]


class VersionEntry(Shape, frozen=True):
    """A published version. It never changes, except that it may be yanked or deprecated (and back
    again)."""

    scope: Annotated[str, name_field("Same as the widget's.", "catalog")]
    name: Annotated[str, name_field("Same as the widget's.", "clock")]
    version: Annotated[str, version_field("Version number, by Semantic Versioning 2.0.0.")]
    bundle_url: Annotated[
        str,
        url_field(
            "Where the JavaScript bundle is. Load this address; do not build your own.",
            "https://catalog.example/cdn/@catalog/clock/2.0.0/index.js",
        ),
    ]
    bundle_size: Annotated[int, count_field("Size of the bundle in bytes, not compressed.", 5515)]
    sha256_hash: Annotated[
        str,
        described(
            "SHA-256 of the bundle, in hexadecimal: check what you have loaded against it.",
            "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
            pattern=SHA256,
        ),
    ]
    published_at: Annotated[str, time_field("When the version was published.")]
    yanked: Annotated[
        bool,
        described(
            "Whether the version was withdrawn. A yanked version is never offered as the latest; "
            "its bundle stays where it is, so that running dashboards do not break.",
            False,
        ),
    ]
    yanked_reason: Annotated[
        str | None, described("Why it was yanked, for people.", "Shows the wrong day.")
    ]
    deprecation_message: Annotated[
        str | None,
        described("A warning to show to those who use this version.", "Use 2.x from now on."),
    ]
    # From here on what its author has declared: `manifests.Declared`, in this order.
    release_notes: Annotated[
        str | None, described("What is new, for users. Often Markdown.", "- New setting `face`")
    ]
    display_name: Annotated[str, described("Display name, as of this version.", "Clock")]
    description: Annotated[
        str | None,
        described("Short description, as of this version.", "A clock for any time zone."),
    ]
    icon: Annotated[
        str | None, described("Iconify identifier, as of this version.", "mdi:clock-outline")
    ]
    min_size: Annotated[Size, described("Smallest size on the dashboard's grid.")]
    max_size: Annotated[Size, described("Largest size on the dashboard's grid.")]
    sdk_version: Annotated[
        str, described("Range of SDK versions the bundle works with, in npm's grammar.", "^1.2.0")
    ]
    config_version: Annotated[
        int | None, described("Version of the widget's settings, for migrations.", 2)
    ]
    permissions: Annotated[
        tuple[str, ...], described("What the widget asks to be allowed to do.", ["network"])
    ]
    license: Annotated[str | None, described("License identifier, usually an SPDX one.", "MIT")]


class WidgetHead(Shape, frozen=True):
    """What detail, search and registry all say of a widget."""

    scope: Annotated[str, name_field("Who publishes it.", "catalog")]
    name: Annotated[str, name_field("Its name inside the scope.", "clock")]
    display_name: Annotated[str, described("Its display name.", "Clock")]
    description: Annotated[
        str | None, described("Short description.", "A clock for any time zone.")
    ]
    icon: Annotated[str | None, described("Iconify identifier.", "mdi:clock-outline")]
    is_official: Annotated[
        bool | None,
        described(
            "Whether the operator of this service maintains it; `null` counts as `false`.", True
        ),
    ]


class Widget(WidgetHead, frozen=True):
    """A widget as its detail shows it."""

    is_official: Annotated[
        bool, described("Whether the operator of this service maintains it.", True)
    ]
    download_count: Annotated[int, count_field("Installs so far, all versions together.", 18250)]
    created_at: Annotated[str, time_field("When the widget was created.")]


class WidgetDetail(Shape, frozen=True):
    """A widget with all of its versions."""

    widget: Widget
    versions: Annotated[
        tuple[VersionEntry, ...],
        described("Every published version, newest first. Yanked ones are among them, marked."),
    ]
    latest_version: Annotated[
        str | None,
        version_field("Number of the newest version that is not yanked; `null` if there is none."),
    ]


class WidgetSummary(WidgetHead, frozen=True):
    """A widget as search shows it."""

    download_count: Annotated[
        int | None, count_field("Installs so far, all versions together.", 18250)
    ]
    latest_version: Annotated[
        VersionEntry | None,
        described(
            "The newest version that is not yanked; `null` if there is none. *Newest* is the one "
            "published last, not the one with the highest number."
        ),
    ]
    latest_compatible_version: Annotated[
        VersionEntry | UnsetType | None,
        described(
            "Only there when the request has `compatSdk`: the newest version, not yanked, whose "
            "`sdkVersion` range admits that SDK; `null` if none does."
        ),
    ] = UNSET


class SearchResults(Shape, frozen=True):
    """One page of search results."""

    widgets: Annotated[
        tuple[WidgetSummary, ...], described("The results on this page, best first.")
    ]
    total: Annotated[int, count_field("How many widgets match in all, on every page together.", 2)]
    page: Annotated[int, count_field("The number of this page, as requested.", 1, minimum=1)]
    limit: Annotated[
        int,
        described(
            "The page size that was used: what was asked for, but never more than 100.",
            20,
            minimum=1,
            maximum=100,
        ),
    ]


class RegistryWidget(WidgetHead, frozen=True):
    """A widget as a scope's registry shows it."""

    latest_version: Annotated[
        str | None,
        version_field("Number of the newest version that is not yanked; `null` if there is none."),
    ]
    versions: Annotated[
        tuple[VersionEntry, ...],
        described("Every published version, newest first, yanked ones included."),
    ]


class Registry(Shape, frozen=True):
    """Everything a scope offers, in one document. It holds no download counts, so it changes only
    when the scope does."""

    version: Annotated[Literal[1], described("Version of this format. It is not the API's.", 1)]
    scope: Annotated[str, name_field("The scope.", "catalog")]
    generated_at: Annotated[str, time_field("When the scope last changed.")]
    base_url: Annotated[
        str,
        url_field(
            "Base URL of this service's bundles, with a trailing slash.",
            "https://catalog.example/cdn/",
        ),
    ]
    widgets: Annotated[
        tuple[RegistryWidget, ...], described("The scope's listed widgets, ordered by `name`.")
    ]


class Counted(Shape, frozen=True):
    """The download was counted."""

    success: Annotated[Literal[True], described("Always `true`.", True)] = True


class Error(Shape, frozen=True):
    """The body of every error, whatever its status."""

    error: Annotated[
        str, described("A message that says what is wrong.", "There is no widget 'acme/x'.")
    ]


_ApiVersions = Annotated[
    tuple[Annotated[str, Meta(extra_json_schema={"pattern": API_VERSION})], ...],
    described("Versions of the public API that are served.", ["v1"]),
]


class ServiceVersion(Shape, frozen=True):
    """The release that is running."""

    version: Annotated[str, version_field("Release of the service.", "0.1.0")]
    released_at: Annotated[str, time_field("When it was released.")]
    api_versions: _ApiVersions


class CliVersion(Shape, frozen=True):
    """Which command-line tools this service works with."""

    min_supported: Annotated[str, version_field("Oldest tool that may publish here.", "0.0.0")]
    latest: Annotated[str, version_field("Newest tool there is.", "0.1.0")]


class Stats(Shape, frozen=True):
    """The size of the catalog. Listed widgets only."""

    widgets: Annotated[int, count_field("Listed widgets.", 18)]
    versions: Annotated[int, count_field("Their published versions.", 49)]
    scopes: Annotated[int, count_field("Scopes that have a listed widget.", 4)]
    downloads: Annotated[int, count_field("Their installs so far.", 99670)]
    generated_at: Annotated[str, time_field("When this was counted.")]


class MirrorOf(Shape, frozen=True):
    """The upstream of a mirror."""

    url: Annotated[str, url_field("The catalog that it copies.", "https://catalog.example")]
    id: Annotated[str, described("The id of this mirror.", "5f0c2d9e8b7a6c41")]
    through: Annotated[
        tuple[str, ...],
        described("The ids of the mirrors between that catalog and the one it comes from.", []),
    ]


class Settings(Shape, frozen=True):
    """What a client needs to know before it signs in. Never a secret; more may be added."""

    service_name: Annotated[str, described("Name the operator gave the service.", "Widget Catalog")]
    base_url: Annotated[str, url_field("Where it is reached.", "https://catalog.example")]
    cdn_base_url: Annotated[str, url_field("Where its bundles are.", "https://catalog.example/cdn")]
    sign_in: Annotated[tuple[Any, ...], described("Ways to sign in; empty if there are none.", [])]
    cli_client_id: Annotated[
        str, described("OAuth client id of the command-line tool.", "widget-cli")
    ]
    registration_open: Annotated[bool, described("Whether anybody may register.", False)]
    max_bundle_bytes: Annotated[
        int, count_field("Largest bundle that may be published, in bytes.", 2097152)
    ]
    api_versions: _ApiVersions
    mirror_of: Annotated[
        MirrorOf | UnsetType,
        described("Only present if this is a mirror: widgets are published elsewhere."),
    ] = UNSET


class PublishScope(Shape, frozen=True):
    """A scope that an account may publish to: `type` is `personal` or `organization`."""

    name: str
    type: str
    display_name: str | None = None


class PublishRequest(Shape, frozen=True, kw_only=True):
    """What a tool asks for before it uploads a version. The manifest says the rest."""

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
    manifest_json: str


class UploadTargets(Shape, frozen=True):
    """Where to put the files of a version, and where they will be published. `version_id` goes
    back as it came."""

    upload_url: str
    cdn_url: str
    widget_id: str
    version_id: str | int
    css_upload_url: str | UnsetType | None = UNSET
    css_url: str | UnsetType | None = UNSET


class Published(Shape, frozen=True):
    """A version is public."""

    success: bool
    bundle_url: str
    css_url: str | UnsetType = UNSET
