"""The expected output of `scenes.js`, wherever the client runs and whatever serves the catalog."""

from client.runtimes import ClientCatalog

STYLE = ".clock { color: red; }"

READ = {
    "found": [1, "2.0.0", "1.1.0"],
    "versions": ["2.0.0", "1.1.0", "1.0.0"],
    "pictures": ["image/webp", "image/webp", "image/svg+xml", "image/svg+xml"],
    "revocations": True,
    "unknown": ["NotFound", "There is no widget 'acme/nobody'."],
    "notAnId": ["InvalidRequest", "../../etc is not a widget: write scope/name."],
    "invalid": ["InvalidRequest", "page must be a whole number of at least 1."],
    "aborted": "stopped",
    "offline": ["Offline", "http://127.0.0.1:1/api/v1/widgets/search cannot be reached."],
}
NOT_ADDRESSES = ("localhost:8080", "catalog.example", "ftp://catalog.example")

MISSPELLED = [
    ["InvalidRequest", "widgets[0].version: is an unknown key; did you mean installed?"],
    ["InvalidRequest", "min_age_days: is an unknown key; did you mean minAgeDays?"],
    ["InvalidRequest", "colour: is an unknown key; known are sdk, widgets, minAgeDays."],
]

# For the pairs of options in `scenes.js`: version, status, permissions added, offline, and whether
# the options are part of the result.
LOADED_OFFLINE = [
    "1.1.0 install network true false",
    "1.1.0 current  true false",
    "1.1.0 current  true false",
    "Offline",
    "Offline",
    "Offline",
    "Offline",
    "1.1.0 current  true false",
    "1.1.0 current  true false",
    "1.1.0 current  true false",
    "Offline",
    "1.0.0 update network true false",
    "1.0.0 update network true false",
    "Offline",
    "1.1.0 update network true false",
    "1.1.0 current  true false",
]


def all_read(url: str) -> dict[str, object]:
    wrong = [*NOT_ADDRESSES, f"{url}?a=b"]
    says = "is not the address of a catalog: write https://catalog.example."
    return {**READ, "notAnAddress": [["InvalidRequest", f"{it} {says}"] for it in wrong]}


def loaded(
    version: str, status: str, *, style: str | None = None, update: str | None = None
) -> dict[str, object]:
    described = {"version": version, "mounted": version, "status": status, "style": style}
    return {**described, "update": update, "isOffline": False}


def all_loaded(catalog: ClientCatalog, *, counted: int) -> dict[str, object]:
    return {
        "clock": loaded("1.1.0", "install", style=STYLE),
        "fetched": ["undefined", "export const = 1;\n"],
        "isOneModule": True,
        "newSdk": loaded("2.0.0", "update"),
        "newSdkUnasked": ["Incompatible", "acme/clock can be updated from 1.1.0 to 2.0.0."],
        "inRange": loaded("1.0.0", "install"),
        "current": loaded("1.1.0", "current", style=STYLE),
        "needsConsent": loaded("1.0.0", "update", update="1.1.0"),
        "hasConsent": ["1.1.0", ["network"]],
        "mayControl": [
            "1.0.0",
            "1.1.0",
            ["control:lock"],
            (
                "acme/guard can be updated from 1.0.0 to 1.1.0. "
                "1.1.0 may also control locks (lock.front_*)."
            ),
        ],
        "mayControlMore": [
            "1.1.0",
            "1.2.0",
            ["control:lock"],
            "acme/guard can be updated from 1.1.0 to 1.2.0. 1.2.0 may also control locks.",
        ],
        "incompatible": ["Incompatible", "No version of acme/clock runs on SDK 9.0.0."],
        "unknown": ["NotFound", "This catalog does not know acme/nobody."],
        "invalid": [
            "InvalidRequest",
            'sdk: "one" is not a semantic version: write three numbers, such as 1.0.0.',
        ],
        "lie": [
            "IntegrityError",
            f"{catalog.dashboard.url}/lie.js is not what the catalog described.",
        ],
        "broken": "ImportFailed",
        "counted": counted,
    }


_MIGRATED = [1, 2, {"time": "7:00", "from": 1}]
_NEWEST = ["2.1.0", "permissions", "major", "config"]
# Options of a load, and: the version, what is reported instead of taken, the permissions that it
# or else the version adds, and from which version to which the settings change.
UPDATES: list[tuple[dict[str, object], list[object]]] = [
    ({}, ["2.1.0", None, ["network", "camera"], None]),
    ({"installed": "1.0.0"}, ["1.2.0", _NEWEST, ["camera"], None]),
    ({"installed": "1.0.0", "configVersion": 3}, ["1.1.0", _NEWEST, ["camera"], None]),
    ({"installed": "1.0.0", "acceptPermissions": True}, ["1.3.0", _NEWEST, ["camera"], None]),
    (
        {"installed": "1.0.0", "range": "^1.0.0"},
        ["1.2.0", ["1.3.0", "permissions"], ["storage"], None],
    ),
    (
        {"installed": "1.0.0", "range": "1.0.0 - 1.3.0"},
        ["1.0.0", ["1.3.0", "permissions"], ["storage"], None],
    ),
    (
        {"installed": "1.0.0", "accept": {"version": "2.0.0", "reasons": ["major", "config"]}},
        ["2.0.0", None, [], _MIGRATED],
    ),
    (
        {"installed": "1.0.0", "accept": {"version": "2.0.0", "reasons": ["major"]}},
        ["1.2.0", _NEWEST, ["camera"], None],
    ),
    (
        {"installed": "1.0.0", "accept": {"version": "2.0.0", "reasons": ["config"]}},
        ["1.2.0", _NEWEST, ["camera"], None],
    ),
    (
        {"installed": "1.0.0", "accept": {"version": "2.1.0", "reasons": _NEWEST[1:]}},
        ["2.1.0", None, ["camera"], _MIGRATED],
    ),
    ({"installed": "2.1.0", "configVersion": 1}, ["2.1.0", None, [], _MIGRATED]),
    # The catalog does not know what is installed, so everything is new.
    (
        {"installed": "1.0.7"},
        ["1.1.0", _NEWEST[:-1], ["network", "camera"], None],
    ),
    (
        {"installed": "0.9.0"},
        ["Incompatible", _NEWEST[:-1], ["network", "camera"], None],
    ),
]


def refused(widget: str) -> list[str]:
    """The result for a widget whose only version was revoked."""
    return [
        "Revoked",
        f"{widget} 1.0.0 was revoked: unload it. There is no other version that fits.",
    ]
