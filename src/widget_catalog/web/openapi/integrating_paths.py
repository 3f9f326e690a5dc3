"""Operations for those who run widgets: one version, what to do about many, what must not run."""

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
        "Read a version",
        "Everything about one published version: its whole manifest, its files with their hashes, "
        "the style sheet too, and which permissions it asks for that the version before it did "
        "not. Build metadata in the version is ignored.",
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
        "What should a dashboard do about the widgets it has, on the SDK it runs? Ask for all of "
        "them at once. With an SDK that you do not run yet, the answer is the forecast of an "
        "upgrade.\n\n"
        "`offer` is the newest version that is compatible, neither yanked nor revoked, inside "
        "`range`, and at least `minAgeDays` old. The body has at most 64 KB and 500 widgets; all "
        "that is wrong with it is reported at once.",
        f"curl -X POST '{base_url}/api/v1/widgets/resolve' -H 'Content-Type: application/json' "
        '-d \'{"sdk":"2.1.0","widgets":[{"id":"catalog/clock","installed":"1.1.0"}]}\'',
        {
            "200": json_answer("What to do about each.", "Resolved", answered, *_OPEN),
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
        "Follow the changes",
        "Everything that happens to widgets, numbered without gaps. Ask with `next` of the last "
        "answer as `since`; where `next` is `newest`, you have all. Act on a change by reading the "
        "widget again. An unlisted widget is given by its id alone, with `listed: false`: "
        "forget it.\n\n"
        "With `Accept: text/event-stream` the same comes as server-sent events, as it happens: "
        "`data` is one change, `id` its number, and a client that comes back with `Last-Event-ID` "
        "is sent what it has missed. Without `since` a stream begins with what is new. A comment "
        "comes every 15 seconds. If too many streams are open, the answer is `503` with "
        "`Retry-After`.\n\n"
        "Some ten thousand changes are kept. Where `since` is older, the answer is `410`: start "
        "over from the registries.",
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
        "Bundles that must not run: the operator has revoked them. Unload what you have of them, "
        "and do not load them again, not even from a cache of your own. A revoked version counts "
        "as yanked everywhere, and its bundle is answered with `410`.\n\n"
        "Ask at every start of your dashboard; `ETag` makes that cheap. A revocation can be taken "
        "back: what is not in the list may run.",
        f"curl '{base_url}/api/v1/widgets/revocations'",
        {
            "200": json_answer("All of them.", "Revocations", revocations_example(), *_OPEN),
            "304": shared("NotModified"),
        },
    )
