"""POST /api/v1/widgets/resolve: what to do about the widgets that a dashboard has."""

import json
import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.site import InProcessSite, Reply, Sent
from support.widgets import version_line, widget_line
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.moderation.revoke_version import revoke_version

RESOLVE = "/api/v1/widgets/resolve"
MANY_ERRORS = (
    b'{"sdk":1,"minAgeDays":-1,"widgets":[1,{"id":"x"},'
    b'{"id":"a/b","installed":"v1","range":"wrong"},{"id":"a/b","range":7}]}'
)
NOW = datetime(2026, 2, 10, tzinfo=UTC)


def _version(number: str, day: int, **fields: Any) -> dict[str, Any]:
    return version_line(number, publishedAt=f"2026-02-{day:02}T00:00:00Z", **fields)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data", lambda: NOW) as site:
        site.add(
            widget_line(
                "acme/clock",
                versions=[
                    _version("1.0.0", 1, permissions=["network"]),
                    _version("1.1.0", 2, permissions=["network", "storage"]),
                    _version("1.2.0", 3, yanked=True, yankedReason="Bad."),
                    _version("2.0.0", 4, sdkVersion="^2.0.0", permissions=["camera"]),
                    _version("1.3.0+b", 9, permissions=["storage"]),
                ],
            ),
            widget_line("acme/bad", versions=[_version("1.0.0", 1), _version("1.1.0", 2)]),
            widget_line("acme/hidden", listed=False, versions=[_version("1.0.0", 1)]),
            widget_line("acme/lost", listed=False, versions=[_version("1.0.0", 1)]),
            widget_line("acme/empty", versions=[]),
            widget_line("acme/gone", versions=[_version("1.0.0", 1)]),
        )
        store, bundles = site.node.store, site.node.bundles
        for key in ("acme/bad", "acme/lost", "acme/gone"):
            revoke_version(store, bundles, COMMAND_LINE, key, "1.0.0", "Malware.")
        yield site


def ask(shop: InProcessSite, body: object) -> Reply:
    return shop.request("POST", RESOLVE, json.dumps(body).encode())


def result(shop: InProcessSite, sdk: str = "1.5.0", age: float | None = None, **widget: Any) -> Any:
    response = ask(
        shop, {"sdk": sdk, "minAgeDays": age, "widgets": [{"id": "acme/clock", **widget}]}
    )
    assert response.status == 200, response.body
    (only,) = response.json()["results"]
    return only


def brief(result: Any) -> tuple[str, str | None, str | None]:
    def number(entry: Any) -> str | None:
        return None if entry is None else entry["version"]

    return result["status"], number(result["installed"]), number(result["offer"])


def test_every_status(shop: InProcessSite) -> None:
    cases: list[tuple[dict[str, Any], tuple[str, str | None, str | None]]] = [
        ({}, ("install", None, "1.3.0+b")),
        ({"installed": "1.3.0"}, ("current", "1.3.0+b", "1.3.0+b")),
        ({"installed": "1.3.0+other"}, ("current", "1.3.0+b", "1.3.0+b")),
        ({"installed": "1.0.0"}, ("update", "1.0.0", "1.3.0+b")),
        ({"installed": "1.2.0"}, ("yanked", "1.2.0", "1.3.0+b")),
        ({"installed": "9.9.9"}, ("update", None, "1.3.0+b")),
        ({"sdk": "2.1.0"}, ("install", None, "2.0.0")),
        ({"sdk": "2.1.0", "installed": "1.3.0"}, ("update", "1.3.0+b", "2.0.0")),
        ({"sdk": "3.0.0", "installed": "1.3.0"}, ("incompatible", "1.3.0+b", None)),
        ({"sdk": "3.0.0"}, ("incompatible", None, None)),
        ({"sdk": "3.0.0", "installed": "1.2.0"}, ("yanked", "1.2.0", None)),
        ({"range": "~1.1.0"}, ("install", None, "1.1.0")),
        ({"range": "~1.1.0", "installed": "1.1.0"}, ("current", "1.1.0", "1.1.0")),
        ({"range": "~1.1.0", "installed": "1.3.0"}, ("incompatible", "1.3.0+b", "1.1.0")),
        ({"range": ">=1.1.0 <1.4.0", "installed": "1.0.0"}, ("update", "1.0.0", "1.3.0+b")),
        ({"range": "^7.0.0", "installed": "1.1.0"}, ("incompatible", "1.1.0", None)),
        ({"range": "*"}, ("install", None, "1.3.0+b")),
        ({"age": 3}, ("install", None, "1.1.0")),
        ({"age": 1}, ("install", None, "1.3.0+b")),
        ({"age": 1.5}, ("install", None, "1.1.0")),
        ({"age": 3, "installed": "1.3.0"}, ("current", "1.3.0+b", "1.3.0+b")),
        ({"age": 30}, ("incompatible", None, None)),
        ({"id": "acme/none"}, ("unknown", None, None)),
        ({"id": "acme/hidden"}, ("unlisted", None, None)),
        ({"id": "acme/hidden", "installed": "1.0.0"}, ("unlisted", None, None)),
        ({"id": "acme/lost", "installed": "1.0.0"}, ("revoked", "1.0.0", None)),
        ({"id": "acme/bad", "installed": "1.0.0"}, ("revoked", "1.0.0", "1.1.0")),
        ({"id": "acme/bad", "installed": "1.0.0", "sdk": "9.0.0"}, ("revoked", "1.0.0", None)),
        ({"id": "acme/bad"}, ("install", None, "1.1.0")),
        ({"id": "acme/empty"}, ("incompatible", None, None)),
    ]
    for asked, expected in cases:
        found = result(shop, **asked)

        assert brief(found) == expected
        assert found["message"].endswith(".")
        assert asked.get("id", "acme/clock") in found["message"]


def test_entries_are_those_of_the_detail_and_permissions_are_compared(shop: InProcessSite) -> None:
    versions = {
        it["version"]: it for it in shop.get("/api/v1/widgets/acme/clock").json()["versions"]
    }
    found = result(shop, installed="1.0.0")

    assert list(found) == [
        "id", "status", "installed", "offer", "latestVersion", "permissionsAdded",
        "permissionsRemoved", "message", "configVersionChange",
    ]  # fmt: skip
    assert (found["installed"], found["offer"]) == (versions["1.0.0"], versions["1.3.0+b"])
    assert (found["permissionsAdded"], found["permissionsRemoved"]) == (["storage"], ["network"])
    assert found["latestVersion"] == "1.3.0+b"
    assert found["message"] == "acme/clock can be updated from 1.0.0 to 1.3.0+b."
    installing = result(shop, range="~1.1.0")
    assert installing["permissionsAdded"] == ["network", "storage"]
    older = result(shop, range="~1.1.0", installed="1.3.0")
    assert older["message"] == "acme/clock 1.3.0 does not fit; 1.1.0, an older version, does."


def test_another_version_of_the_settings_is_told(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        numbers = {"1.0.0": None, "1.1.0": 1, "1.2.0": 1, "1.3.0": 2}
        lines = [
            _version(it, day, configVersion=n) for day, (it, n) in enumerate(numbers.items(), 1)
        ]
        site.add(widget_line("acme/clock", versions=lines))
        asked = [
            ("1.1.0", "1.2.0"),
            ("1.1.0", "1.3.0"),
            ("1.0.0", "*"),
            ("1.3.0", "*"),
            (None, "*"),
        ]
        found = [
            result(site, installed=installed, range=range_)["configVersionChange"]
            for installed, range_ in asked
        ]
    assert found == [None, {"from": 1, "to": 2}, {"from": None, "to": 2}, None, None]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"sdk": "9.0.0"}, "No version of acme/clock runs on SDK 9.0.0."),
        ({"range": "^7.0.0"}, "No version of acme/clock in this range runs on SDK 1.5.0."),
        ({"age": 30}, "No version of acme/clock that is at least 30 days old runs on SDK 1.5.0."),
        (
            {"age": 36_499.99},
            "No version of acme/clock that is at least 36499.99 days old runs on SDK 1.5.0.",
        ),
        (
            {"age": 1, "range": "^2.0.0", "sdk": "1.0.0"},
            "No version of acme/clock in this range that is at least 1 day old runs on SDK 1.0.0.",
        ),
        ({"id": "acme/gone"}, "No version of acme/gone is available."),
        ({"id": "acme/empty"}, "No version of acme/empty is available."),
    ],
)
def test_a_message_says_why_no_version_is_offered(
    shop: InProcessSite, asked: dict[str, Any], message: str
) -> None:
    assert result(shop, **asked)["message"] == message


def test_each_message_names_the_version_that_was_sent(shop: InProcessSite) -> None:
    """Those with other builds are equal, and have the same result."""
    sent = ["1.0.0+a", "1.0.0+b", "1.0.0", "1.0.0+a"]
    widgets = [{"id": "acme/clock", "installed": it} for it in sent]
    for body in ({"sdk": "1.5.0"}, {"sdk": "1.5.0", "minAgeDays": 0.5}):
        results = ask(shop, body | {"widgets": widgets}).json()["results"]
        wanted = [f"acme/clock can be updated from {it} to 1.3.0+b." for it in sent]
        assert [it["message"] for it in results] == wanted


def test_a_minimum_age_depends_on_the_time(tmp_path: Path) -> None:
    """A repeated request gets another response, although nothing has changed."""
    today = datetime(2026, 2, 2, tzinfo=UTC)
    with InProcessSite(tmp_path / "data", lambda: today) as site:
        site.add(widget_line("acme/clock", versions=[_version("1.0.0", 1)]))
        assert result(site, age=2)["status"] == "incompatible"
        today = datetime(2026, 2, 4, tzinfo=UTC)
        assert result(site, age=2)["status"] == "install"


def test_a_response_that_is_too_large_is_not_made_first(tmp_path: Path) -> None:
    """Many clients that ask for it at once would use all memory."""
    long = "知" * 19_000
    with InProcessSite(tmp_path / "data") as site:
        lines = [_version(f"{it}.0.0", it, releaseNotes=f"{it}{long}") for it in (1, 2)]
        site.add(widget_line("acme/clock", versions=lines))
        widgets = [
            {"id": "acme/clock", "installed": "1.0.0", "range": f">0.0.{it}"} for it in range(500)
        ]
        body = json.dumps({"sdk": "1.0.0", "widgets": widgets}).encode()
        alone = site.request("POST", RESOLVE, body)
        tracemalloc.start()
        try:
            asked: list[Sent] = [("POST", RESOLVE, body, {})] * 10
            found = [reply for _, reply in site.together(asked)]
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    sentence = "widgets: the response is larger than 32 MB; ask for fewer at a time."
    assert (alone.status, alone.json()) == (400, {"error": sentence})
    assert alone.headers["access-control-allow-origin"] == "*"
    # Not all of them get far enough to find out that theirs never fits.
    assert {it.status for it in found} <= {400, 503}
    assert most < 150 << 20


def test_results_come_in_the_order_asked(shop: InProcessSite) -> None:
    ids = ["acme/none", "acme/clock", "acme/clock", "acme/bad"] * 60
    response = ask(shop, {"sdk": "1.0.0-rc.1", "widgets": [{"id": it} for it in ids]})

    body = response.json()
    assert [it["id"] for it in body["results"]] == ids
    assert (body["sdk"], body["revision"]) == (
        "1.0.0-rc.1",
        shop.get("/api/v1/widgets/revocations").json()["revision"],
    )
    assert ask(shop, {"sdk": "1.0.0", "widgets": []}).json()["results"] == []


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        (b"", ["The body must be JSON"]),
        (b"{", ["The body must be JSON"]),
        (b"\xff", ["The body must be JSON"]),
        (b"[" * 30_000, ["The body must be JSON"]),
        (b"[]", ["The body must be a JSON object."]),
        (b"{}", ["sdk: must be", "widgets: must be a list."]),
        (b'{"sdk":"1","widgets":{}}', ['sdk: "1" is not', "widgets: must be a list."]),
        (
            MANY_ERRORS,
            ["sdk: must", "minAgeDays: must", "widgets[0]: must", "widgets[1].id: must",
             'widgets[2].installed: "v1"', 'widgets[2].range: "wrong"', "widgets[3].range: must"],
        ),
        (b'{"sdk":"1.0.0","widgets":[' + b"1," * 500 + b"1]}", ["widgets: 501 are too many"]),
        (b'{"sdk":"1.0.0","widgets":[' + b"1," * 99 + b"1]}", ["There are 80 more errors."]),
        (b'{"sdk":"1.0.0","minAgeDays":true,"widgets":[]}', ["minAgeDays: must"]),
        (
            (b'{"sdk":"1.0.0","minAge":3,"widgets":[{"id":"acme/clock","version":"1.0.0"},'
            b'{"id":"acme/clock","instaled":"1.0.0","tags":[]},{"name":"acme/clock"},'
            b'{"id":"acme/clock","installed":"1.0.0","version":"1.0.0"}]}'),
            ["minAge: is an unknown key; did you mean minAgeDays?",
             "widgets[0].version: is an unknown key; did you mean installed?",
             "widgets[1].instaled: is an unknown key; did you mean installed?",
             "widgets[1].tags: is an unknown key; known are id, installed, range.",
             "widgets[2].name: is an unknown key; did you mean id?",
             "widgets[3].version: is an unknown key; known are id, installed, range."],
        ),
        (b'{"sdkVersion":"1.0.0","widgets":[]}',
         ["sdkVersion: is an unknown key; did you mean sdk?", "sdk: must be"]),
        (b'{"sdk":"1.0.0","widgets":[],"\\u001b[31m\\n":1}', [r"'\x1b[31m\n': is an unknown key"]),
        (
            b'{"sdk":"1.0.0","widgets":[],' + b",".join(b'"a%d":1' % it for it in range(99)) + b"}",
            ["a19: is an unknown key", "There are 79 more errors."],
        ),
        (b'{"sdk":"1.0.0","minAgeDays":1e308,"widgets":[]}', ["minAgeDays: must"]),
    ],
)  # fmt: skip
def test_every_error_of_a_body_is_named(
    shop: InProcessSite, body: bytes, errors: list[str]
) -> None:
    response = shop.request("POST", RESOLVE, body)

    assert response.status == 400
    assert list(response.json()) == ["error"]
    for error in errors:
        assert error in response.json()["error"]
    assert response.headers["access-control-allow-origin"] == "*"


def test_many_unknown_keys_are_refused_quickly(shop: InProcessSite) -> None:
    """Finding similar names takes a while, so it is done for few of them."""
    keys = ",".join(f'"installedd{number:x}":0' for number in range(3000))
    body = f'{{"sdk":"1.0.0","widgets":[{{{keys}}}]}}'.encode()
    began = time.process_time()
    response = shop.request("POST", RESOLVE, body)
    assert time.process_time() - began < 0.5
    assert response.status == 400
    assert len(response.body) < 4000


def test_a_body_has_64_kb_at_most(shop: InProcessSite) -> None:
    body = json.dumps({"sdk": "1.0.0", "widgets": []}).encode()
    assert shop.request("POST", RESOLVE, body.ljust(65_536)).status == 200
    response = shop.request("POST", RESOLVE, body.ljust(65_537))
    assert response.status == 400
    assert "65,536 bytes" in response.json()["error"]


def test_a_body_that_is_announced_as_too_large_is_not_waited_for(shop: InProcessSite) -> None:
    for length, error in ((65_537, "too large: at most 65,536"), (3, "is incomplete")):
        response = shop.request("POST", RESOLVE, b"{}", content_length=str(length))
        assert response.status == 400
        assert error in response.json()["error"]


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
        lambda values: st.lists(values, max_size=4)
        | st.dictionaries(st.sampled_from(["sdk", "widgets", "id", "installed", "range",
                                           "minAgeDays", "version", "", "\x00"]),
                          values, max_size=6),
    )
)  # fmt: skip
def test_any_json_gets_an_response(shop: InProcessSite, body: Any) -> None:
    response = ask(shop, body)
    assert response.status in (200, 400)


def test_other_methods_and_encodings(shop: InProcessSite) -> None:
    body = json.dumps({"sdk": "1.0.0", "widgets": [{"id": "acme/clock"}]}).encode()
    plain = shop.request("POST", RESOLVE, body, if_none_match="*")
    assert plain.status == 200
    packed = shop.request("POST", RESOLVE, body, accept_encoding="gzip")
    assert packed.headers["content-encoding"] == "gzip"
    for method in ("GET", "HEAD", "PUT"):
        response = shop.request(method, RESOLVE)
        assert (response.status, response.headers["allow"]) == (405, "POST, OPTIONS")
    assert shop.request("OPTIONS", RESOLVE).status == 204


def test_others_are_let_in_while_many_widgets_are_resolved(shop: InProcessSite) -> None:
    """No widget here has many versions; parsing long ranges alone takes a while."""
    wanted = " || ".join(f">={i}.0.0 <{i}.0.1" for i in range(100, 140))
    widgets = [{"id": "acme/none", "range": wanted + f" || {number}"} for number in range(45)]
    body = json.dumps({"sdk": "1.0.0", "widgets": widgets}).encode()
    reads: list[Sent] = [("GET", "/api/v1/widgets/acme/clock", b"", {})] * 5
    arrived = shop.together([("POST", RESOLVE, body, {}), *reads])
    assert arrived[-1][0] == 0
    assert arrived[-1][1].status == 200
