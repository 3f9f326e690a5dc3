"""Generates requests that no regular client sends. The same seed gives the same requests."""

import json
import random
import string
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

_LONGEST_ADDRESS = 8192

# Characters that would end the URL, or are not allowed in one; others are sent unchanged.
_NOT_IN_A_QUERY = str.maketrans({it: quote(it) for it in ' "#<>'})
_NOT_IN_A_PATH = _NOT_IN_A_QUERY | str.maketrans({it: quote(it) for it in "?`"})

_TOKEN = string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~"


class Hostile(NamedTuple):
    """A request that is valid HTTP/1.1, however odd: it must get a response from us.

    `path` is the part of the URL before the query. `status` is the required status, if it can be
    determined without knowing the code. After `is_last` the connection may be closed.
    """

    data: bytes
    method: str
    path: str
    status: int | None = None
    is_last: bool = False


class HostileRequests:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def proper(self) -> Hostile:
        make = self._random.choice(
            [
                self._search,
                self._search,
                self._search_with_a_known_end,
                self._search_with_a_known_end,
                self._any_path,
                self._any_path,
                self._any_method,
                self._any_headers,
                self._any_headers,
                self._large,
                self._with_body,
                self._changes,
                self._resolve,
                self._upgrade,
                self._odd_form,
            ]
        )
        return make()

    def _search(self) -> Hostile:
        pairs = [
            f"{self._parameter()}={self._value()}" for _ in range(self._random.choice([0, 1, 2, 5]))
        ]
        glue = self._random.choice(["&", "&", "&", "&&", ";", "&="])
        return self._get("/api/v1/widgets/search", glue.join(pairs).translate(_NOT_IN_A_QUERY))

    def _search_with_a_known_end(self) -> Hostile:
        query, status = self._random.choice(_SEARCHES)(self._random)
        return self._get("/api/v1/widgets/search", query)._replace(status=status)

    def _changes(self) -> Hostile:
        names = self._random.choice([["since"], ["since", "limit"], ["limit", "since", "since"]])
        query = "&".join(f"{it}={self._value()}" for it in names)
        return self._get("/api/v1/widgets/changes", query.translate(_NOT_IN_A_QUERY))

    def _resolve(self) -> Hostile:
        widget = {"id": self._random.choice(_JSON), "installed": self._random.choice(_JSON)}
        asked: dict[str, Any] = {"sdk": "1.0.0", "widgets": [{"id": "acme/clock"}]}
        wrong: dict[str, Any] = self._random.choice(
            [
                {"sdk": self._random.choice(_JSON)},
                {"widgets": self._random.choice(_JSON)},
                {"widgets": [widget, {"id": "acme/clock", "range": self._random.choice(_JSON)}]},
                {"minAgeDays": self._random.choice(_JSON)},
            ]
        )
        body = json.dumps(asked | wrong).encode()
        cut = self._random.choice([None, None, None, len(body) // 2])
        body = body[:cut] * self._random.choice([1, 1, 1, 2])
        head = f"Content-Length: {len(body)}"
        made = self._request("POST", "/api/v1/widgets/resolve", "", head)
        return made._replace(data=made.data + body, is_last=True)

    def _any_path(self) -> Hostile:
        path = self._random.choice(_PATHS)
        for _ in range(self._random.choice([0, 1, 1, 2, 4])):
            at = self._random.randrange(1, len(path) + 1)
            cut = at + self._random.choice([0, 0, 1, 5])
            path = path[:at] + self._random.choice(_PIECES) + path[cut:]
        path = path.translate(_NOT_IN_A_PATH)
        method = self._random.choice(["GET", "GET", "HEAD", "POST", "OPTIONS", "DELETE"])
        return self._request(method, path, self._random.choice(["", "", "x=1", "%", "?"]))

    def _any_method(self) -> Hostile:
        length = self._random.choice([1, 3, 8, 200])
        invented = "".join(self._random.choices(_TOKEN, k=length))
        known = ["PUT", "PATCH", "DELETE", "TRACE", "get", "LINK", "PROPFIND", "M-SEARCH", "PRI"]
        method = self._random.choice([invented, *known])
        path = self._random.choice(_PATHS)
        status = 405 if path in _KNOWN_PATHS else None
        return self._request(method, path)._replace(status=status)

    def _any_headers(self) -> Hostile:
        many = 90 if self._random.random() < 0.03 else self._random.choice([1, 2, 5])
        headers = [self._header() for _ in range(many)]
        method = self._random.choice(["GET", "GET", "HEAD", "POST"])
        return self._request(method, self._random.choice(_PATHS), "", *headers)

    def _large(self) -> Hostile:
        """Rarely, to save time."""
        return self._too_long() if self._random.random() < 0.2 else self._search()

    def _too_long(self) -> Hostile:
        filler = self._random.choice(["a", "%41", "/", "%2F", "a/", "%00"])
        length = self._random.choice([8_200, 20_000, 60_000])
        text = (filler * length)[:length].rstrip("%")
        if self._random.random() < 0.5:
            return self._get("/api/v1/widgets/search", f"q={text}")._replace(status=414)
        path = f"/api/v1/widgets/{text}"
        status = 414 if len(unquote(path)) > _LONGEST_ADDRESS else 404
        return self._get(path, "")._replace(status=status)

    def _with_body(self) -> Hostile:
        body = self._random.randbytes(self._random.choice([0, 1, 100, 3_000]))
        if self._random.random() < 0.5:
            sent = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
            head, body = "Transfer-Encoding: chunked", sent + b"0\r\n\r\n"
        else:
            head = f"Content-Length: {len(body)}"
        headers = [head, "Content-Type: application/json"]
        if self._random.random() < 0.1:
            headers.append("Expect: 100-continue")
        made = self._request(
            self._random.choice(["GET", "POST", "POST", "PUT"]),
            self._random.choice(_PATHS),
            "",
            *headers,
        )
        # The body is not read; if it is incomplete when the response is sent, the connection is
        # closed.
        return made._replace(data=made.data + body, is_last=True)

    def _upgrade(self) -> Hostile:
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
        websocket = ["Upgrade: websocket", "Connection: Upgrade", key, "Sec-WebSocket-Version: 13"]
        settings = "HTTP2-Settings: AAMAAABkAAQAAP__"
        h2c = ["Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", settings]
        headers = self._random.choice([websocket, h2c, ["Upgrade: x", "Connection: upgrade"]])
        path = self._random.choice(_KNOWN_PATHS)
        return self._request("GET", path, "", *headers)._replace(status=200)

    def _odd_form(self) -> Hostile:
        """Request targets other than a path, and an older version: each may close the
        connection.
        """
        target, path, status = self._random.choice(
            [
                ("*", "*", 404),
                ("http://elsewhere.example/api/version", "/api/version", 200),
                ("https://u:p@elsewhere.example:99/api/x", "/api/x", 401),
                ("http://elsewhere.example", "/", 200),
                ("elsewhere.example:443", "", 404),
                ("/api/version#part", "/api/version", 200),
                ("//api/version", "//api/version", 308),
            ]
        )
        method = {"*": "OPTIONS", "": "CONNECT"}.get(path if path in ("*", "") else "/", "GET")
        version = self._random.choice(["1.1", "1.1", "1.0"])
        lines = [f"{method} {target} HTTP/{version}", "Host: catalog.example", "", ""]
        data = "\r\n".join(lines).encode()
        return Hostile(data, method, path, status, is_last=method == "CONNECT" or version == "1.0")

    def _get(self, path: str, query: str) -> Hostile:
        return self._request("GET", path, query)

    def _request(self, method: str, path: str, query: str = "", *headers: str) -> Hostile:
        address = f"{path}?{query}" if query else path
        host = self._random.choice(["Host: catalog.example", "Host: x", "host:", "Host: [::1]:80"])
        text = "\r\n".join([f"{method} {address} HTTP/1.1", host, *headers, "", ""])
        return Hostile(text.encode("utf-8", "surrogateescape"), method, path)

    def _parameter(self) -> str:
        known = ["q", "compatSdk", "scope", "official", "page", "limit", "since"]
        odd = ["Q", "q%00", "%71", "", "q[]", "__proto__", "é", "%ff", "%"]
        return self._random.choice(known * 3 + odd)

    def _value(self) -> str:
        made: list[Callable[[], str]] = [
            lambda: self._random.choice(_VALUES),
            lambda: self._random.choice(_VALUES),
            lambda: quote(self._random.choice(_VALUES)),
            lambda: str(self._random.randrange(-(10**40), 10**40)),
            lambda: quote("".join(chr(self._random.randrange(1, 0xD7FF)) for _ in range(9))),
            lambda: "".join(f"%{self._random.randrange(256):02x}" for _ in range(9)),
            lambda: "".join(self._random.choices(string.ascii_lowercase, k=4)),
        ]
        return self._random.choice(made)()

    def _header(self) -> str:
        name = self._random.choice(
            [
                "Accept-Encoding", "If-None-Match", "Range", "If-Range", "Accept", "Cookie",
                "Authorization", "Origin", "X-Forwarded-For", "Content-Type", "If-Modified-Since",
                "Access-Control-Request-Method", "User-Agent", "TE", "X-Anything", "Via",
            ]
        )  # fmt: skip
        if self._random.random() < 0.5:
            return f"{name}: {self._random.choice(_HEADER_VALUES)}"
        length = self._random.choice([0, 1, 10, 10, 10, 300, 3_000])
        return f"{name}: {''.join(self._random.choices(_HEADER_CHARACTERS, k=length))}"


_KNOWN_PATHS = [
    "/api/v1/widgets/acme/clock", "/api/v1/widgets/search", "/api/widgets/acme/registry.json",
    "/api/health", "/api/version", "/api/stats", "/api/settings", "/api/widgets/cli-version",
    "/api/v1/widgets/acme/clock/1.0.0", "/api/v1/widgets/changes", "/api/v1/widgets/revocations",
    "/healthz/live", "/healthz/ready",
]  # fmt: skip
_PATHS = [
    *_KNOWN_PATHS, "/api/v1/widgets/acme/nothing", "/api/v1/widgets/acme/hidden", "/api/v1/",
    "/api/v1/widgets/", "/api/", "/api/widgets//registry.json", "/api/widgets/x/y/registry.json",
    "/api/auth/oauth2/token", "/api/widgets/publish", "/cdn/@acme/clock/1.0.0/index.js", "/cdn/",
    "/", "/docs/api", "/openapi.json", "/nothing", "/api/v1/widgets/resolve", "/healthz/",
    "/api/v1/widgets/acme/clock/9.9.9", "/api/v1/widgets/acme/hidden/1.0.0",
]  # fmt: skip
_PIECES = [
    "/", "//", "/../", "/..", "/./", "%2f", "%2F", "%2e%2e/", "%00", "%ff", "%C3%A9", "%c0%af", "%",
    "%zz", "%u0041", "%25", "%2541", "é", "日本", "\U0001f552", "\u202e", ";a=b", ":", "@", "~",
    "*", "'", '"', "<script>", "{}", "|", "\\", "^", "`", "A", "-", "_", "a" * 64, "a" * 65,
    "a" * 300, "search", "registry.json", "\ufeff", "\u2028",
]  # fmt: skip
_VALUES = [
    "", "0", "-1", "1", "2", "1.5", "1e3", "0x10", "1_000", "+1", " 1", "١", "²", "true", "false",
    "TRUE", "null", "undefined", "NaN", "Infinity", "[]", "{}", "'", '"', "%", "%25", "%2", "_",
    "*", "\\", "--", "';DROP TABLE widgets;--", "../../etc/passwd", "1.2.3", "v1.2.3", "1.2",
    "1.2.3-", "1.2.3-rc.1+b", "01.2.3", f"{10**30}.0.0", "^1.0.0", "a" * 256, "a" * 257, "é" * 256,
    "%f0%9f", "\U0001f552", "ﬁ", "İ", "ß", "ﷺ" * 50, "%00", "a b c d e f", "+", "&", "=",
    "acme", "clock",
]  # fmt: skip
_JSON: list[Any] = [
    None, True, 0, -1, 1e300, 10**30, "", " ", "1.0.0", "01.0.0", "^1.0.0", ">=", "* ||", "acme",
    "acme/clock", "/", "../x", "@acme/clock", "acme/clock/1.0.0", "A/B", "\ud800", "\0", [], {},
    "a" * 5000, [[]], [None], {"id": {}}, ["acme/clock"] * 600,
]  # fmt: skip
_HEADER_VALUES = [
    "*", '""', 'W/"x"', '"a", "b", *', "gzip;q=nonsense", "gzip;q=1e999", "*;q=0", "br,,,;;=,", ",",
    "bytes=0-0", "bytes=-0", "bytes=5-1", "bytes=0-1,2-3", "bytes=" + "9" * 40 + "-", "bytes=x-y",
    "gzip, deflate, br, zstd", "identity;q=0, *;q=0", "Thu, 01 Jan 1970 00:00:00 GMT",
    "q=0.5;" * 50,
]  # fmt: skip
_HEADER_CHARACTERS = string.printable[:95] + "\t" + "éÿ日\U0001f552"

# Searches with a known status, according to the documented rules.
_SEARCHES: list[Callable[[random.Random], tuple[str, int]]] = [
    lambda it: (f"page={it.randrange(1, 10**30)}", 200),
    lambda it: (f"page={10 ** it.randrange(30, 4_000)}", 200),
    lambda it: (f"limit={it.randrange(1, 10**30)}", 200),
    lambda it: (f"limit={'9' * it.randrange(1, 4_000)}", 200),
    lambda it: (f"page=-{it.randrange(10**30)}", 400),
    lambda it: (f"limit=0&page={it.randrange(5)}", 400),
    lambda it: ("&".join(f"unknown{i}={i}" for i in range(it.randrange(200, 500))), 200),
    lambda it: ("&".join("a" for _ in range(it.randrange(1_000, 4_000))), 200),
    lambda it: ("&" * it.randrange(1, 8_000), 200),
    lambda it: ("&".join(["page=1"] + ["page=0"] * it.randrange(1, 900)), 200),
    lambda it: ("q=%ff", 400),
    lambda it: ("q=%", 400),
    lambda it: ("q=é", 200),
    lambda it: ("x=%C3%28", 400),
    lambda it: (f"q={'%C3%A9' * 256}", 200),
    lambda it: (f"q={'%C3%A9' * 257}", 400),
    lambda it: ("compatSdk=", 400),
    lambda it: (f"compatSdk={it.randrange(9)}.{it.randrange(9)}", 400),
    lambda it: (f"compatSdk={it.randrange(9)}.0.{it.randrange(9)}-rc.1%2Bb", 200),
    lambda it: ("official=maybe", 400),
    lambda it: ("official=TRUE&scope=%00%01", 200),
    lambda it: ("scope=../..&q=%00", 200),
]
