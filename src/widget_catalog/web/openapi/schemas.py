"""The schemas of the OpenAPI document: every JSON shape of the public surface, field by field."""

from .fields import (
    Schema,
    count,
    exact,
    field,
    list_of,
    name,
    nullable,
    ref,
    text,
    timestamp,
    version,
)


def schemas() -> dict[str, Schema]:
    """All of them by name; a schema refers to another as `#/components/schemas/{name}`."""
    return {
        "SearchResults": _search_results(),
        "WidgetSummary": _widget_summary(),
        "WidgetDetail": _widget_detail(),
        "Widget": _widget(),
        "VersionEntry": _version_entry(),
        "Size": _size(),
        "Registry": _registry(),
        "RegistryWidget": _registry_widget(),
        "Counted": exact(
            "The download was counted.",
            {"success": field("Always `true`.", True, type="boolean", const=True)},
        ),
        "Error": exact(
            "The body of every error, whatever its status.",
            {"error": text("A sentence that says what is wrong.", "There is no widget 'acme/x'.")},
        ),
        "Health": _health(),
        "HealthFault": _health_fault(),
        "ServiceVersion": _service_version(),
        "CliVersion": _cli_version(),
        "Stats": _stats(),
        "Settings": _settings(),
    }


def _search_results() -> Schema:
    return exact(
        "One page of search results.",
        {
            "widgets": list_of("WidgetSummary", "The results on this page, best first."),
            "total": count("How many widgets match in all, on every page together.", 2),
            "page": count("The page this is, as asked for.", 1, minimum=1),
            "limit": field(
                "The page size that was used: what was asked for, but never more than 100.",
                20,
                type="integer",
                minimum=1,
                maximum=100,
            ),
        },
    )


def _widget_summary() -> Schema:
    return exact(
        "A widget as search shows it.",
        {
            **_widget_texts(),
            "downloadCount": nullable(count("Installs so far, all versions together.", 18250)),
            "latestVersion": _version_or_null(
                "The newest version that is not yanked; `null` if there is none. *Newest* is the "
                "one published last, not the one with the highest number."
            ),
            "latestCompatibleVersion": _version_or_null(
                "Only there when the request has `compatSdk`: the newest version, not yanked, "
                "whose `sdkVersion` range admits that SDK; `null` if none does."
            ),
        },
        optional=("latestCompatibleVersion",),
    )


def _widget_detail() -> Schema:
    return exact(
        "A widget with all of its versions.",
        {
            "widget": ref("Widget"),
            "versions": list_of(
                "VersionEntry",
                "Every published version, newest first. Yanked ones are among them, marked.",
            ),
            "latestVersion": nullable(
                version("Number of the newest version that is not yanked; `null` if there is none.")
            ),
        },
    )


def _widget() -> Schema:
    return exact(
        "A widget as its detail shows it.",
        {
            **_widget_texts(),
            "isOfficial": field(
                "Whether the operator of this service maintains it.", True, type="boolean"
            ),
            "downloadCount": count("Installs so far, all versions together.", 18250),
            "createdAt": timestamp("When the widget was created."),
        },
    )


def _version_entry() -> Schema:
    return exact(
        "A published version. It never changes, except that it may be yanked or deprecated "
        "(and back again).",
        {
            "scope": name("Same as the widget's.", "catalog"),
            "name": name("Same as the widget's.", "clock"),
            "version": version("Version number, by Semantic Versioning 2.0.0."),
            "bundleUrl": text(
                "Where the JavaScript bundle is. Load this address; do not build your own.",
                "https://catalog.example/cdn/@catalog/clock/2.0.0/index.js",
                format="uri",
            ),
            "bundleSize": count("Size of the bundle in bytes, not compressed.", 5515),
            "sha256Hash": text(
                "SHA-256 of the bundle, in hexadecimal: check what you have loaded against it.",
                "c81c2bd9832ca040af0ae060b25d15fbfefc843b84375ce8b45f5eae30e71174",
                pattern="^[0-9a-f]{64}$",
            ),
            "publishedAt": timestamp("When the version was published."),
            "yanked": field(
                "Whether the version was withdrawn. A yanked version is never offered as the "
                "latest; its bundle stays where it is, so that running dashboards do not break.",
                False,
                type="boolean",
            ),
            "yankedReason": nullable(
                text("Why it was yanked, for people.", "Shows the wrong day.")
            ),
            "deprecationMessage": nullable(
                text("A warning to show to those who use this version.", "Use 2.x from now on.")
            ),
            "releaseNotes": nullable(
                text("What is new, for users. Often Markdown.", "- New setting `face`")
            ),
            "displayName": text("Name for people, as of this version.", "Clock"),
            "description": nullable(
                text("Short description, as of this version.", "A clock for any time zone.")
            ),
            "icon": nullable(text("Iconify identifier, as of this version.", "mdi:clock-outline")),
            "minSize": _sized("Smallest size on the dashboard's grid."),
            "maxSize": _sized("Largest size on the dashboard's grid."),
            "sdkVersion": text(
                "Range of SDK versions the bundle works with, in npm's grammar.", "^1.2.0"
            ),
            "configVersion": nullable(
                field("Version of the widget's settings, for migrations.", 2, type="integer")
            ),
            "permissions": {
                "type": "array",
                "items": {"type": "string"},
                "description": "What the widget asks to be allowed to do.",
                "examples": [["network"]],
            },
            "license": nullable(text("License identifier, usually an SPDX one.", "MIT")),
        },
    )


def _size() -> Schema:
    return exact(
        "A size on the dashboard's grid, in cells.",
        {"w": count("Width.", 2, minimum=1), "h": count("Height.", 1, minimum=1)},
    )


def _registry() -> Schema:
    return exact(
        "Everything a scope offers, in one document. It holds no download counts, so it changes "
        "only when the scope does.",
        {
            "version": field(
                "Version of this format. It is not the API's.", 1, type="integer", const=1
            ),
            "scope": name("The scope.", "catalog"),
            "generatedAt": timestamp("When the scope last changed."),
            "baseUrl": text(
                "Where this service's bundles are, with a slash at the end.",
                "https://catalog.example/cdn/",
                format="uri",
            ),
            "widgets": list_of("RegistryWidget", "The scope's listed widgets, ordered by `name`."),
        },
    )


def _registry_widget() -> Schema:
    return exact(
        "A widget as a scope's registry shows it.",
        {
            **_widget_texts(),
            "latestVersion": nullable(
                version("Number of the newest version that is not yanked; `null` if there is none.")
            ),
            "versions": list_of(
                "VersionEntry", "Every published version, newest first, yanked ones included."
            ),
        },
    )


def _health() -> Schema:
    ok = {"type": "string", "const": "ok", "examples": ["ok"]}
    return exact(
        "All is well.",
        {
            "status": {**ok, "description": "`ok`: the service works."},
            "checks": exact(
                "What was looked at.",
                {
                    "database": {**ok, "description": "The catalog can be read."},
                    "bundles": {**ok, "description": "The bundles' folder can be used."},
                    "workers": _missing_workers(),
                },
                optional=("workers",),
            ),
        },
    )


def _missing_workers() -> Schema:
    return text("Only there while some are missing: how many run.", "1 of 2 running")


def _health_fault() -> Schema:
    check = {"type": "string", "enum": ["ok", "failing"], "examples": ["failing"]}
    return exact(
        "Something is wrong, and what.",
        {
            "status": {
                "type": "string",
                "const": "unavailable",
                "description": "`unavailable`: at least one check fails.",
                "examples": ["unavailable"],
            },
            "checks": exact(
                "What was looked at; a check that fails says `failing`.",
                {
                    "database": {
                        **check,
                        "enum": ["ok", "failing", "damaged"],
                        "description": "Whether the catalog can be read, and is not damaged.",
                    },
                    "bundles": {**check, "description": "Whether bundles can be reached."},
                    "writing": {
                        "type": "string",
                        "const": "failing",
                        "description": "Only there while another process keeps all from writing.",
                        "examples": ["failing"],
                    },
                    "workers": _missing_workers(),
                },
                optional=("writing", "workers"),
            ),
            "error": text("What is wrong, for people.", "The database cannot be read."),
        },
    )


def _service_version() -> Schema:
    return exact(
        "The release that is running.",
        {
            "version": version("Release of the service.", "0.1.0"),
            "releasedAt": timestamp("When it was released."),
            "apiVersions": _api_versions(),
        },
    )


def _cli_version() -> Schema:
    return exact(
        "Which command-line tools this service works with.",
        {
            "minSupported": version("Oldest tool that may publish here.", "0.0.0"),
            "latest": version("Newest tool there is.", "0.1.0"),
        },
    )


def _stats() -> Schema:
    return exact(
        "The size of the catalog. Listed widgets only.",
        {
            "widgets": count("Listed widgets.", 18),
            "versions": count("Their published versions.", 49),
            "scopes": count("Scopes that have a listed widget.", 4),
            "downloads": count("Their installs so far.", 99670),
            "generatedAt": timestamp("When this was counted."),
        },
    )


def _settings() -> Schema:
    settings = exact(
        "What a client needs to know before it signs in. Never a secret; more may be added.",
        {
            "serviceName": text("Name the operator gave the service.", "Widget Catalog"),
            "baseUrl": text("Where it is reached.", "https://catalog.example", format="uri"),
            "cdnBaseUrl": text(
                "Where its bundles are.", "https://catalog.example/cdn", format="uri"
            ),
            "signIn": {
                "type": "array",
                "items": {},
                "description": "Ways to sign in; empty if there are none.",
                "examples": [[]],
            },
            "cliClientId": text("OAuth client id of the command-line tool.", "widget-cli"),
            "registrationOpen": field("Whether anybody may register.", False, type="boolean"),
            "maxBundleBytes": count("Largest bundle that may be published, in bytes.", 2097152),
            "apiVersions": _api_versions(),
        },
    )
    return {**settings, "additionalProperties": True}


def _widget_texts() -> dict[str, Schema]:
    """What detail, search and registry all say of a widget, in their order."""
    return {
        "scope": name("Who publishes it.", "catalog"),
        "name": name("Its name inside the scope.", "clock"),
        "displayName": text("Its name for people.", "Clock"),
        "description": nullable(text("Short description.", "A clock for any time zone.")),
        "icon": nullable(text("Iconify identifier.", "mdi:clock-outline")),
        "isOfficial": nullable(
            field(
                "Whether the operator of this service maintains it; `null` counts as `false`.",
                True,
                type="boolean",
            )
        ),
    }


def _sized(about: str) -> Schema:
    return {**ref("Size"), "description": about}


def _version_or_null(about: str) -> Schema:
    return {"anyOf": [ref("VersionEntry"), {"type": "null"}], "description": about}


def _api_versions() -> Schema:
    return {
        "type": "array",
        "items": {"type": "string", "pattern": "^v[1-9][0-9]*$"},
        "description": "Versions of the public API that are served.",
        "examples": [["v1"]],
    }
