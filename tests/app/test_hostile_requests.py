"""Whatever a signed-in person sends to any route: one error format, and no internal errors."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.test_authorization_matrix import BODIES as RIGHT_BODIES
from support.people import request_body
from support.routes import API
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.core.http.routing import AuthMode, Route

pytestmark = pytest.mark.slow

PUBLISH = "/api/widgets/publish"
# These would end the sessions that the other requests use.
ENDING = ("/api/auth/sign-out", "/api/account/close", "/api/auth/password", "/api/auth/sessions/")
TRIED = [it for it in API.all if not it.path.startswith(ENDING)]
WITH_BODY = [it for it in TRIED if it.method in ("POST", "PUT")]

KEYS = st.sampled_from(
    "username email password invitation name actions scopes widgets expiresInDays action scope "
    "versionId version displayName description icon minSize maxSize sdkVersion bundleSize "
    "sha256Hash cssSize cssSha256Hash manifestJson reason message isOfficial publishers slug role "
    "secret currentPassword newPassword w h code passkey id response position links logo until "
    "announcement accentLight title text isFeatured".split()
)
NASTY = st.sampled_from(
    ["", "\0", "ann", "acme", "clock", "acme/clock", "1.0.0", "../..", "\u202e", "\ufeff", "\u2028",
     "x" * 3000, "wci_x", "request", "check", "confirm", "publish", "owner", "' OR 1=1 --",
     "%00", "{}", '{"name":1}', "^1.0.0", "*", "ab" * 32, "\U0010ffff", "a@b.c"]
)  # fmt: skip
TEXTS = NASTY | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=5),
    max_leaves=12,
)
BODIES = VALUES | st.dictionaries(KEYS, VALUES, max_size=8)
VALID = {"name": "x", "actions": ["publish"], "username": "mia", "role": "member", "slug": "acme",
         "displayName": "X", "reason": "x", "message": "x", "isOfficial": False, "publishers": [],
         "secret": "x", "email": "x@example.org", "password": "x" * 12, "invitation": "x",
         **request_body("ann/new")}  # fmt: skip
PARTS = st.sampled_from(
    ["ann", "acme", "clock", "1.0.0", "mia", ".", "..", "\0", "%2e%2e", "a b", "@ann", "\ufffd",
     "é", "A", "*", "'", '"', "x" * 3000, "1.0.0+a", "\u202e", "\r\n", ";", "?x"]
)  # fmt: skip


@pytest.fixture(scope="module")
def crowd(built_people: BuiltPeople, tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    folder = tmp_path_factory.mktemp("hostile") / "data"
    with People(built_people, folder, registration="open") as made:
        made.olly.post("/api/collections", {"title": "Acme", "widgets": ["acme/clock"]})
        yield made


def address_of(route: Route, value: str = "") -> str:
    usual = {"scope": "acme", "name": "clock", "version": "1.0.0", "slug": "acme"}
    usual |= {"id": "0" * 24, "username": "mia", "delivery": "msg_0"}
    return re.sub(r"{(\w+)}", lambda found: value or usual[found[1]], route.path)


def send(people: People, route: Route, body: bytes, address: str = "") -> Reply:
    """By an author; if it is for operators, by one."""
    where = address or address_of(route)
    for person in (people.ann, people.olly):
        headers = {"content_type": "application/json", **person.headers}
        response = people.site.request(route.method, where, body, **headers)
        if response.status != 403:
            break
    return response


def assert_answered(response: Reply, *told: object) -> None:
    assert response.status < 500, (response.body, told)
    assert response.headers["content-type"] == "application/json; charset=utf-8", told
    assert response.headers["x-content-type-options"] == "nosniff", told
    if response.status >= 400:
        body = response.json()
        # OAuth errors have a code in addition to the message.
        is_oauth = any(isinstance(it, Route) and it.auth is AuthMode.OAUTH for it in told)
        sentence = body.pop("error_description" if is_oauth else "error")
        assert list(body) == (["error"] if is_oauth else []), told
        assert isinstance(sentence, str), told
        assert sentence.endswith((".", ".)")), (sentence, told)
        assert len(sentence) < 10_000, told
        assert "Traceback" not in sentence, told


@settings(max_examples=6)
@given(BODIES)
def test_any_json_gets_a_response(crowd: People, body: Any) -> None:
    sent = json.dumps(body).encode()
    for route in WITH_BODY:
        assert_answered(send(crowd, route, sent), route, sent)


@settings(max_examples=12)
@example(-1, 2**70)
@given(st.integers(0, 50), VALUES)
def test_one_wrong_value_in_a_right_body_gets_a_response(
    crowd: People, number: int, value: Any
) -> None:
    for route in WITH_BODY:
        declared = RIGHT_BODIES.get((route.method, route.path))
        right = declared if isinstance(declared, dict) else VALID
        key = "position" if number < 0 else sorted(right)[number % len(right)]
        sent = json.dumps({**right, key: value}).encode()
        assert_answered(send(crowd, route, sent), route, sent)


@given(st.dictionaries(KEYS, VALUES, max_size=3), st.dictionaries(KEYS, VALUES, max_size=3))
def test_any_manifest_gets_a_response(
    crowd: People, beside: dict[str, Any], said: dict[str, Any]
) -> None:
    body = request_body("ann/new", action="check")
    text = json.dumps(json.loads(body["manifestJson"]) | said)
    sent = body | beside | {"manifestJson": text, "action": "check"}

    response = crowd.ann.post(PUBLISH, sent)

    assert_answered(response, sent)
    assert response.status in (200, 400, 403, 409)


RAW = [
    b"", b" ", b"{", b"}", b"nul", b"NaN", b'{"name": NaN}', b'{"name": Infinity}', b"\x00",
    b'{"name": "\x00"}', b"\xff\xfe", b"\xef\xbb\xbf{}", b'{"name": "\xed\xa0\x80"}', b"'x'",
    b'{"name": "\\ud800"}', b'{"name": "\\udc00\\ud800"}', b'{"name": "\\u0000"}', b"{}{}",
    b'{"name": 1' + b"0" * 400 + b"}", b'{"name": 1' + b"0" * 5000 + b"}", b'{"name": 1e999}',
    b'{"bundleSize": 1' + b"0" * 4000 + b"}", b'{"expiresInDays": 1' + b"0" * 30 + b"}",
    b"[" * 5000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 2000 + b"1" + b"}" * 2000,
    b'{"name":' + b"[" * 900 + b"]" * 900 + b"}", b'{"minSize":' + b"[" * 950 + b"]" * 950 + b"}",
    b'{"name": "x", "name": ["y"]}', b'{"__proto__": {}, "constructor": 1}',
]  # fmt: skip


def test_any_bytes_get_a_response(crowd: People) -> None:
    for route in WITH_BODY:
        for body in RAW:
            assert_answered(send(crowd, route, body), route, body[:60])


@pytest.mark.parametrize(
    "raw", ["[" * 900 + "]" * 900, "9" * 4000, "9" * 400, '"\\ud800"', "1e999"]
)
def test_a_publish_request_may_hold_anything_anywhere(crowd: People, raw: str) -> None:
    for key in request_body("ann/new"):
        for is_inside in (False, True):
            body = request_body("ann/new", action="check")
            if is_inside:
                said = json.dumps(json.loads(body["manifestJson"]) | {key: "HERE"})
                body["manifestJson"] = said.replace('"HERE"', raw)
                sent = json.dumps(body)
            else:
                sent = json.dumps(body | {key: "HERE"}).replace('"HERE"', raw)
            route = next(it for it in API.all if it.path == PUBLISH)
            assert_answered(send(crowd, route, sent.encode()), key, is_inside, raw[:20])


@settings(max_examples=8)
@given(PARTS | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_any_part_of_an_address_gets_a_response(crowd: People, part: str) -> None:
    for route in (it for it in TRIED if "{" in it.path):
        body = json.dumps(VALID).encode() if route.method in ("POST", "PUT") else b""
        for written in (part, quote(part, safe="")):
            address = address_of(route, written).replace("?", "")
            assert_answered(send(crowd, route, body, address), route, part)


@pytest.mark.parametrize(
    "query",
    ["page=%00", "page=" + "9" * 5000, "page=1&page=x", "&".join(["page=1"] * 200), "=&=&", "%",
     "limit=\ufffd", "page=%F0%9F", "page=1e9", "limit=+1", "page= 1", "limit=0x10"],
)  # fmt: skip
def test_any_query_gets_a_response(crowd: People, query: str) -> None:
    for path in ("/api/audit", "/api/widgets/ann/clock/audit", "/api/organizations/acme/audit"):
        assert_answered(crowd.olly.get(f"{path}?{query}"), query)


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": "session"},
        {"cookie": "__Host-session="},
        {"cookie": ";;;=;__Host-session=;"},
        {"cookie": "__Host-session=\u00ff"},
        {"cookie": "__Host-session=wcs_\x00"},
        {"cookie": "__Host-session=wcs_" + "x" * 7000},
        {"cookie": "a=b; __Host-session=wcs_x; __Host-session=wcs_y"},
        {"authorization": "Bearer \u00ff\u00fe"},
        {"authorization": "Bearer wct_\u00ff"},
        {"authorization": "Bearer wco_" + "x" * 7000},
        {"authorization": "\x00"},
        {"x_csrf_token": "\u00ff"},
        {"x_forwarded_for": "\u00ff,,,"},
        {"content_type": "\u00ff"},
        {"content_type": "application/json;" * 500},
        {"sec_fetch_site": "\u00ff"},
    ],
)
def test_any_header_gets_a_response(crowd: People, headers: dict[str, str]) -> None:
    for own in ({}, crowd.ann.headers):
        for method, path in [("GET", "/api/auth/session"), ("POST", "/api/auth/sign-out")]:
            given = own | headers
            if own and path.endswith("sign-out"):
                given["x_csrf_token"] = "wrong"
            assert_answered(crowd.site.request(method, path, b"", **given), headers, path)


def test_after_all_that_everybody_is_still_there(crowd: People) -> None:
    for person in (crowd.ann, crowd.olly):
        assert person.get("/api/auth/session").status == 200
    assert crowd.site.get("/cdn/@ann/clock/1.0.0/index.js").status == 200
