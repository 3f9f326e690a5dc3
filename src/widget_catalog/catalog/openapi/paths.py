"""The operations of the OpenAPI document: every public path, its parameters and responses."""

from widget_contract.patterns import (
    COMPAT_SDK,
    NAME,
    NAME_MAX_LENGTH,
    SEMVER,
    SEMVER_MAX_LENGTH,
)

from ...core import release
from ..settings import CatalogSettings
from .answers import (
    Answer,
    detail_example,
    json_answer,
    json_answers,
    registry_example,
    search_examples,
    shared,
)
from .file_paths import file_paths
from .integrating_paths import integrating_paths
from .operations import OPERATIONS, operation, parameter

_OPEN = ("ETag", "Vary", "Access-Control-Allow-Origin")
_CLOSED = ("ETag", "Vary")


def paths(base_url: str) -> dict[str, object]:
    return {
        "/api/v1/widgets/search": {"get": _search(base_url)},
        "/api/v1/widgets/{scope}/{name}": {
            "parameters": [parameter("scope"), parameter("name")],
            "get": _detail(base_url),
            "post": _count(base_url),
        },
        **integrating_paths(base_url),
        "/api/widgets/{scope}/registry.json": {
            "parameters": [parameter("scope")],
            "get": _registry(base_url),
        },
        **file_paths(base_url),
        **_operational_paths(base_url),
    }


def _search(base_url: str) -> Answer:
    return operation(
        "searchWidgets",
        "Search widgets",
        "Searches listed widgets. Without `q`, returns all of them, ordered by installs.\n\n"
        "With `q`, results are ordered by rank:\n\n"
        "1. `displayName` equals `q`;\n"
        "2. `displayName` starts with `q`;\n"
        "3. every term starts a word of `displayName`;\n"
        "4. every term occurs in `displayName`;\n"
        "5. all others, which match by `description`.\n\n"
        "Within a rank, results are ordered by installs (descending), then by `scope` and `name`. "
        "The order is total: the pages of an unchanged catalog contain every widget exactly once.",
        f"curl '{base_url}/api/v1/widgets/search?q=clock&compatSdk=1.2.0&limit=10'",
        {
            "200": json_answers(
                "A page of results. After the last page, `widgets` is empty; `total` is the same.",
                "SearchResults",
                search_examples(base_url),
                *_OPEN,
            ),
            "304": shared("NotModified"),
            "400": shared("InvalidQuery"),
        },
        [parameter(it) for it in ("q", "compatSdk", "scopeFilter", "official", "page", "limit")],
    )


def _detail(base_url: str) -> Answer:
    return operation(
        "getWidget",
        "Get a widget",
        "Returns a widget with all its versions. `latestVersion` is the version to install by "
        "default; to choose by SDK, search with `compatSdk`.",
        f"curl '{base_url}/api/v1/widgets/catalog/clock'",
        {
            "200": json_answer("The widget.", "WidgetDetail", detail_example(base_url), *_OPEN),
            "304": shared("NotModified"),
            "404": shared("WidgetNotFound"),
        },
    )


def _count(base_url: str) -> Answer:
    return operation(
        "countDownload",
        "Count an install",
        "Increments the widget's `downloadCount`. Dashboards call it when a user installs the "
        "widget. No request body is needed.\n\n"
        "Every call counts: there is no deduplication, so the number measures popularity, not "
        "users. After a `200` the increment is persistent, and every later read includes it. "
        "Installs of unlisted widgets are counted, too.",
        f"curl -X POST '{base_url}/api/v1/widgets/catalog/clock'",
        {
            "200": json_answer(
                "The install was counted.",
                "Counted",
                {"success": True},
                "Access-Control-Allow-Origin",
            ),
            "404": shared("WidgetNotFound"),
            "503": shared("NotWritable"),
        },
    )


def _registry(base_url: str) -> Answer:
    return operation(
        "getRegistry",
        "Get the registry of a scope",
        "Returns all listed widgets of a scope with all their versions in one document, for the "
        "first load of a dashboard. It contains no download counts, so body and `ETag` change only "
        "if the scope changes.\n\n"
        "The response has no CORS header: fetch it from your server or from the same origin. The "
        "registry of a scope without listed widgets is empty; an unknown scope is `404`.",
        f"curl '{base_url}/api/widgets/catalog/registry.json'",
        {
            "200": json_answer(
                "The registry.",
                "Registry",
                registry_example(base_url),
                *_CLOSED,
                "Last-Modified",
            ),
            "304": shared("NotModified"),
            "404": shared("ScopeNotFound"),
        },
    )


def _operational_paths(base_url: str) -> dict[str, object]:
    ok = {"status": "ok", "checks": {"database": "ok", "bundles": "ok"}}
    failing = {
        "status": "unavailable",
        "checks": {"database": "ok", "bundles": "failing"},
        "error": "The folder of the bundles cannot be read.",
    }
    is_healthy = json_answer("The service is healthy.", "Health", ok, *_CLOSED)
    is_not = json_answer("A check failed.", "HealthFault", failing, *_CLOSED)
    release_example = {
        "version": release.VERSION,
        "releasedAt": release.RELEASED_AT,
        "apiVersions": list(release.API_VERSIONS),
    }
    tool = {"minSupported": CatalogSettings.min_cli_version, "latest": release.CLI_LATEST}
    stats = {"widgets": 18, "versions": 49, "scopes": 4, "downloads": 99670}
    settings = {
        "serviceName": "Widget Catalog",
        "baseUrl": base_url,
        "cdnBaseUrl": f"{base_url}/cdn",
        "signIn": [],
        "cliClientId": "widget-cli",
        "registrationOpen": False,
        "maxBundleBytes": 2097152,
        "apiVersions": list(release.API_VERSIONS),
    }

    def path(
        address: str, operation_id: str, summary: str, about: str, answers: dict[str, Answer]
    ) -> dict[str, object]:
        curl = f"curl '{base_url}{address}'"
        answers["304"] = shared("NotModified")
        described = operation(operation_id, summary, about, curl, answers, tag=OPERATIONS)
        return {address: {"get": described}}

    return {
        **path(
            "/api/health",
            "getHealth",
            "Get the health status",
            "Returns whether the service is healthy, for load balancers and monitoring.",
            {"200": is_healthy, "503": is_not},
        ),
        **path(
            "/api/version",
            "getVersion",
            "Get the release of the service",
            "Returns the running release, and the versions of the API it serves.",
            {"200": json_answer("The release.", "ServiceVersion", release_example, *_CLOSED)},
        ),
        **path(
            "/api/widgets/cli-version",
            "getCliVersion",
            "Get the releases of the command-line tool",
            "Returns which releases of the command-line tool may publish to this catalog.",
            {"200": json_answer("The tool's releases.", "CliVersion", tool, *_CLOSED)},
        ),
        **path(
            "/api/stats",
            "getStats",
            "Get statistics",
            "Returns the size of the catalog. Only listed widgets and their versions are counted.",
            {
                "200": json_answer(
                    "The statistics.",
                    "Stats",
                    {**stats, "generatedAt": "2026-02-09T09:15:00.000Z"},
                    *_CLOSED,
                )
            },
        ),
        **path(
            "/api/settings",
            "getSettings",
            "Get public settings",
            "Returns the settings that a client needs before sign-in.",
            {"200": json_answer("The settings.", "Settings", settings, *_CLOSED)},
        ),
    }


def parameters() -> dict[str, object]:
    """Every parameter, by the name of its reference."""
    name = {"type": "string", "pattern": NAME, "maxLength": NAME_MAX_LENGTH}
    version = {"type": "string", "pattern": SEMVER, "maxLength": SEMVER_MAX_LENGTH}
    sdk = {"type": "string", "pattern": COMPAT_SDK, "maxLength": SEMVER_MAX_LENGTH}
    least = {"type": "integer", "minimum": 1}
    return {
        "scope": _in_path(
            "scope",
            "The scope: lower-case letters, digits and hyphens, starting with a letter or digit. "
            "Without `@`.",
            name,
            "catalog",
        ),
        "name": _in_path("name", "Name of the widget. The rules of `scope` apply.", name, "clock"),
        "version": _in_path("version", "The full version number.", version, "2.0.0"),
        "q": _in_query(
            "q",
            "Search terms, separated by white space. Every term must occur in `displayName` or "
            "`description`, as a case-insensitive substring. `scope` and `name` are not searched. "
            "There are no wildcards: `%`, `*` and quotes are ordinary characters. More than 256 "
            "characters: `400`. An empty value is ignored.",
            {"type": "string", "maxLength": 256},
            "clock",
        ),
        "compatSdk": _in_query(
            "compatSdk",
            "Version of your dashboard's SDK: a full semantic version, without `v`, not a range. "
            "Results are not filtered: each one has a `latestCompatibleVersion`, which is `null` "
            "if no version is compatible. Prereleases are included: `1.0.0-rc.1` satisfies "
            "`^1.0.0`. An empty or invalid value: `400`.",
            sdk,
            "1.2.0",
        ),
        "scopeFilter": _in_query(
            "scope",
            "Only widgets of this scope (exact match). An unknown or invalid scope returns no "
            "results, not an error.",
            {"type": "string"},
            "catalog",
        ),
        "official": _in_query(
            "official",
            "`true`: only official widgets. `false`: only others, including those with "
            "`isOfficial: null`. Case-insensitive. Any other value: `400`.",
            {"type": "boolean"},
            True,
        ),
        "page": _in_query(
            "page",
            "Page number, starting with 1. A page after the last one is empty. Any other value: "
            "`400`.",
            {**least, "default": 1},
            1,
        ),
        "since": _in_query(
            "since",
            "The number of the last change you have processed. Default: the start of the feed.",
            {"type": "integer", "minimum": 0, "default": 0},
            0,
        ),
        "changesLimit": _in_query(
            "limit",
            "Maximum number of changes. Values above 1,000 are treated as 1,000.",
            {**least, "default": 100},
            100,
        ),
        "limit": _in_query(
            "limit",
            "Results per page. Values above 100 are treated as 100, which the `limit` in the "
            "response shows. Values that are not whole numbers of at least 1: `400`.",
            {**least, "default": 20},
            10,
        ),
    }


def _in_path(name: str, about: str, schema: Answer, example: object) -> Answer:
    return {**_in_query(name, about, schema, example), "in": "path", "required": True}


def _in_query(name: str, about: str, schema: Answer, example: object) -> Answer:
    return {
        "name": name,
        "in": "query",
        "description": about,
        "schema": schema,
        "example": example,
    }
