"""The operations of the OpenAPI document: every public address, its parameters and answers."""

from widget_contract.patterns import (
    COMPAT_SDK,
    NAME,
    NAME_MAX_LENGTH,
    SEMVER,
    SEMVER_MAX_LENGTH,
)

from ... import release
from ...settings import Settings
from .answers import (
    Answer,
    detail_example,
    json_answer,
    json_answers,
    registry_example,
    search_examples,
    sent,
    shared,
)
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
        "/cdn/@{scope}/{name}/{version}/index.js": {
            "parameters": [parameter("scope"), parameter("name"), parameter("version")],
            "get": _bundle(base_url),
        },
        **_operational_paths(base_url),
    }


def _search(base_url: str) -> Answer:
    return operation(
        "searchWidgets",
        "Search widgets",
        "Finds listed widgets, the best match first. Without `q` all of them, the most installed "
        "first.\n\n"
        "With `q`, results come in this order:\n\n"
        "1. `displayName` is the text;\n"
        "2. `displayName` starts with it;\n"
        "3. every term starts a word of `displayName`;\n"
        "4. every term is somewhere in `displayName`;\n"
        "5. all others, found by `description`.\n\n"
        "Inside each of these the most installed come first, then `scope` and `name` decide. So "
        "the order is total: walking the pages of an unchanged catalog shows every widget once.",
        f"curl '{base_url}/api/v1/widgets/search?q=clock&compatSdk=1.2.0&limit=10'",
        {
            "200": json_answers(
                "A page of results. Past the last page `widgets` is empty and `total` still true.",
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
        "Read a widget",
        "A widget and every version of it. `latestVersion` is what to install when nothing speaks "
        "against it; to choose by SDK, search with `compatSdk`.",
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
        "Adds one to the widget's `downloadCount`. Dashboards call it when somebody installs the "
        "widget; there is no body to send.\n\n"
        "Every call counts: nothing is deduplicated, so the number is a measure of popularity and "
        "not of people. Once `200` is answered the increment is kept, and every later read shows "
        "it. An unlisted widget counts too, as long as a dashboard still has it.",
        f"curl -X POST '{base_url}/api/v1/widgets/catalog/clock'",
        {
            "200": json_answer(
                "Counted.", "Counted", {"success": True}, "Access-Control-Allow-Origin"
            ),
            "404": shared("WidgetNotFound"),
            "503": shared("NotWritable"),
        },
    )


def _registry(base_url: str) -> Answer:
    return operation(
        "getRegistry",
        "Fetch a scope’s registry",
        "All listed widgets of one scope with all their versions, in one document: for a "
        "dashboard's first load. It has no download counts, so body and `ETag` stay the same until "
        "the scope changes.\n\n"
        "It carries no CORS header: fetch it from your server or from the same origin. A scope "
        "with nothing listed has an empty registry; one that does not exist is `404`.",
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


def _bundle(base_url: str) -> Answer:
    script = {
        "text/javascript": {
            "schema": {"type": "string"},
            "example": "export default { mount(element, context) { /* … */ } };\n",
        }
    }
    kept = ("ETag", "Cache-Control", "Accept-Ranges")
    open_to_all = ("Access-Control-Allow-Origin", "Cross-Origin-Resource-Policy")
    return operation(
        "getBundle",
        "Load a bundle",
        "The JavaScript of a version, an ES module that any origin may `import()`. It never "
        "changes, so caches may keep it for good; its `ETag` is its SHA-256. Parts can be asked "
        "for with `Range`.\n\n"
        "Go by a version's `bundleUrl` instead of building this address: an operator may keep "
        "bundles on a CDN of its own. Bundles of yanked versions and of unlisted widgets stay "
        "available; those of revoked versions do not.",
        f"curl -O '{base_url}/cdn/@catalog/clock/2.0.0/index.js'",
        {
            "200": {
                "description": "The whole bundle.",
                "headers": sent(*kept, *open_to_all),
                "content": script,
            },
            "206": {
                "description": "The requested range.",
                "headers": sent(*kept, *open_to_all, "Content-Range"),
                "content": script,
            },
            "304": shared("NotModified"),
            "404": shared("BundleNotFound"),
            "410": shared("Revoked"),
            "416": shared("RangeNotSatisfiable"),
            "503": shared("BundleMissing"),
        },
    )


def _operational_paths(base_url: str) -> dict[str, object]:
    ok = {"status": "ok", "checks": {"database": "ok", "bundles": "ok"}}
    failing = {
        "status": "unavailable",
        "checks": {"database": "ok", "bundles": "failing"},
        "error": "The folder of the bundles cannot be read.",
    }
    is_healthy = json_answer("All checks pass.", "Health", ok, *_CLOSED)
    is_not = json_answer(
        "A check fails; the body says which, and why.", "HealthFault", failing, *_CLOSED
    )
    release_example = {
        "version": release.VERSION,
        "releasedAt": release.RELEASED_AT,
        "apiVersions": list(release.API_VERSIONS),
    }
    tool = {"minSupported": Settings.min_cli_version, "latest": release.CLI_LATEST}
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
            "Check the health",
            "Whether the service can do its work: for load balancers and monitoring.",
            {"200": is_healthy, "503": is_not},
        ),
        **path(
            "/api/version",
            "getVersion",
            "Read the service’s release",
            "Which release this is, and which versions of the API it serves.",
            {"200": json_answer("The release.", "ServiceVersion", release_example, *_CLOSED)},
        ),
        **path(
            "/api/widgets/cli-version",
            "getCliVersion",
            "Read the tool’s release",
            "Which command-line tools may publish here. The tool asks this before it starts.",
            {"200": json_answer("The tool's releases.", "CliVersion", tool, *_CLOSED)},
        ),
        **path(
            "/api/stats",
            "getStats",
            "Read the statistics",
            "How large the catalog is. Only listed widgets are counted, and what belongs to them.",
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
            "Read the public settings",
            "What a client needs to know of this service before anybody signs in.",
            {"200": json_answer("The settings.", "Settings", settings, *_CLOSED)},
        ),
    }


def parameters() -> dict[str, object]:
    """Every parameter, by the name it is referred to with."""
    name = {"type": "string", "pattern": NAME, "maxLength": NAME_MAX_LENGTH}
    version = {"type": "string", "pattern": SEMVER, "maxLength": SEMVER_MAX_LENGTH}
    sdk = {"type": "string", "pattern": COMPAT_SDK, "maxLength": SEMVER_MAX_LENGTH}
    least = {"type": "integer", "minimum": 1}
    return {
        "scope": _in_path(
            "scope",
            "The publishing scope: lower-case letters, digits and hyphens, beginning with a letter "
            "or digit. Written without an `@`.",
            name,
            "catalog",
        ),
        "name": _in_path("name", "Name of the widget, by the same rule as `scope`.", name, "clock"),
        "version": _in_path("version", "Version number, in full.", version, "2.0.0"),
        "q": _in_query(
            "q",
            "Text to look for. It is split at white space, and every term must occur in "
            "`displayName` or `description`: anywhere in a word, upper or lower case alike. "
            "`scope` and `name` are not searched. `%`, `*`, quotes and the like are "
            "ordinary characters. Over 256 characters is `400`; an empty text is the same as none.",
            {"type": "string", "maxLength": 256},
            "clock",
        ),
        "compatSdk": _in_query(
            "compatSdk",
            "Version of your dashboard's SDK: a full semantic version, no range, no `v`. It "
            "filters nothing: each result gets `latestCompatibleVersion`, which is `null` where "
            "no version fits. Prereleases count: `1.0.0-rc.1` is admitted by `^1.0.0`. Anything "
            "that is not a version, the empty text too, is `400`.",
            sdk,
            "1.2.0",
        ),
        "scopeFilter": _in_query(
            "scope",
            "Only widgets of this scope, written exactly. A scope that does not exist, or could "
            "not, has no widgets; that is no error.",
            {"type": "string"},
            "catalog",
        ),
        "official": _in_query(
            "official",
            "`true`: only official widgets. `false`: only the others, those with "
            "`isOfficial: null` among them. Upper or lower case alike; anything else is `400`.",
            {"type": "boolean"},
            True,
        ),
        "page": _in_query(
            "page",
            "Which page, a whole number from 1. A page past the end is empty; anything that is "
            "not such a number is `400`.",
            {**least, "default": 1},
            1,
        ),
        "since": _in_query(
            "since",
            "The number of the last change you know. Without it the feed begins at its start.",
            {"type": "integer", "minimum": 0, "default": 0},
            0,
        ),
        "changesLimit": _in_query(
            "limit",
            "How many changes at most, a whole number from 1. More than 1,000 is taken as 1,000.",
            {**least, "default": 100},
            100,
        ),
        "limit": _in_query(
            "limit",
            "How many results a page has, a whole number from 1. More than 100 is taken as 100, "
            "and the answer's `limit` says so; it is not an error. Anything that is not such a "
            "number is `400`.",
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
