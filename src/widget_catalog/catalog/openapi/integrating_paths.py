"""Operations for dashboards that run widgets: version, resolve, changes, revocations."""

from .answers import Answer, json_answer, shared
from .examples import changes_example, resolve_examples, revocations_example, version_example
from .fields import ref
from .operations import operation, parameter

_OPEN = ("ETag", "Vary", "Access-Control-Allow-Origin")


def integrating_paths(base_url: str) -> dict[str, object]:
    return {
        "/api/v1/widgets/{scope}/{name}/{version}": {
            "parameters": [parameter("scope"), parameter("name"), parameter("version")],
            "get": _version(base_url),
        },
        "/api/v1/widgets/resolve": {"post": _resolve(base_url)},
        "/api/v1/widgets/changes": {"get": _changes(base_url)},
        "/api/v1/widgets/revocations": {"get": _revocations(base_url)},
    }


def _version(base_url: str) -> Answer:
    return operation(
        "getWidgetVersion",
        "Get a version",
        "Returns a published version with its full manifest, its files (bundle and style sheet) "
        "with their hashes, and the changes of permissions since the previous version. Build "
        "metadata in the version is ignored.",
        f"curl '{base_url}/api/v1/widgets/catalog/clock/2.0.0'",
        {
            "200": json_answer("The version.", "VersionDetail", version_example(base_url), *_OPEN),
            "304": shared("NotModified"),
            "404": shared("VersionNotFound"),
        },
    )


def _resolve(base_url: str) -> Answer:
    asked, answered = resolve_examples(base_url)
    return operation(
        "resolveWidgets",
        "Resolve widgets",
        "Returns what a dashboard should do about each of its widgets, for the SDK it runs. Send "
        "all widgets in one request. To plan an upgrade, send the version of the new SDK.\n\n"
        "`offer` is the newest version that is compatible, neither yanked nor revoked, within "
        "`range`, and at least `minAgeDays` old. The body is limited to 64 KB and 500 widgets; all "
        "errors in it are reported at once.",
        f"curl -X POST '{base_url}/api/v1/widgets/resolve' -H 'Content-Type: application/json' "
        '-d \'{"sdk":"2.1.0","widgets":[{"id":"catalog/clock","installed":"1.1.0"}]}\'',
        {
            "200": json_answer("The result for each widget.", "Resolved", answered, *_OPEN),
            "400": shared("InvalidBody"),
        },
        body={
            "required": True,
            "content": {"application/json": {"schema": ref("ResolveRequest"), "example": asked}},
        },
    )


def _changes(base_url: str) -> Answer:
    events = {
        "schema": {"type": "string"},
        "example": 'id: 4711\ndata: {"seq":4711,"at":"2026-02-09T09:15:00.000Z",…}\n\n',
    }
    answer = json_answer("A page of the feed.", "Changes", changes_example(), *_OPEN)
    answer["content"]["text/event-stream"] = events
    return operation(
        "listChanges",
        "List changes",
        "Returns the changes of widgets, numbered without gaps. To get the next page, send `next` "
        "of the last response as `since`; if `next` equals `newest`, there are no more. To process "
        "a change, get the widget again. For an unlisted widget, only the id is given, with "
        "`listed: false`: remove it.\n\n"
        "With `Accept: text/event-stream`, changes are sent as server-sent events: `data` is one "
        "change, `id` its number. A client that reconnects with `Last-Event-ID` receives the "
        "changes it has missed. Without `since`, a stream starts with new changes. A comment is "
        "sent every 15 seconds. If too many streams are open, the response is `503` with "
        "`Retry-After`.\n\n"
        "The newest 50,000 changes are retained. If `since` is older, the response is `410`: "
        "start over from the registries.",
        f"curl '{base_url}/api/v1/widgets/changes?since=0&limit=100'",
        {
            "200": answer,
            "304": shared("NotModified"),
            "400": shared("InvalidQuery"),
            "410": shared("NotKept"),
        },
        [parameter("since"), parameter("changesLimit")],
    )


def _revocations(base_url: str) -> Answer:
    return operation(
        "listRevocations",
        "List revoked bundles",
        "Returns the bundles that the operator has revoked and that must not run. Unload them, and "
        "do not load them again, not even from your own cache. A revoked version counts as yanked "
        "everywhere, and requests for its bundle return `410`.\n\n"
        "Request the list whenever your dashboard starts; with `ETag` this is cheap. A revocation "
        "can be undone: bundles that are not in the list may run.",
        f"curl '{base_url}/api/v1/widgets/revocations'",
        {
            "200": json_answer("All revocations.", "Revocations", revocations_example(), *_OPEN),
            "304": shared("NotModified"),
        },
    )
