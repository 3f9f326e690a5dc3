"""Cookies: those that only this service can have set.

Handlers use plain cookie names. Over https browsers see them with the prefix `__Host-`, which they
accept only from this host, over https, for all paths: another host of the same domain cannot set
or replace them. Over plain http there is no such protection.
"""

import re
from collections import defaultdict

from .http import Request, Response

COOKIE = "session"
_PREFIX = "__Host-"
_THEME = re.compile(r"(?:\A|;)\s*theme=(light|dark)\s*(?:;|\Z)")


def theme_of(request: Request) -> str:
    """The colors that `site.js` stores; without a prefix, because nothing depends on them."""
    found = _THEME.search(request.headers.get("cookie") or "")
    return "" if found is None else found[1]


def cookie_attributes(public_url: str) -> str:
    """HttpOnly and SameSite: not readable by scripts, not sent by other sites."""
    is_https = public_url.startswith("https:")
    return f"; Path=/; HttpOnly; SameSite=Lax{'; Secure' if is_https else ''}"


class Cookies:
    def __init__(self, public_url: str) -> None:
        self._prefix = _PREFIX if public_url.startswith("https:") else ""

    def received(self, request: Request) -> dict[str, str]:
        """Our own cookies, by their plain names.

        If several have the same name, it is unknown which one is ours: all are ignored.
        """
        values: dict[str, set[str]] = defaultdict(set)
        lines = [line for key, line in request.headers.items() if key == "cookie"]
        for pair in ";".join(lines).split(";"):
            name, _, value = pair.strip().partition("=")
            if name.startswith(self._prefix):
                values[name.removeprefix(self._prefix)].add(value)
        return {name: it.pop() for name, it in values.items() if len(it) == 1}

    def sent(self, response: Response) -> Response:
        """The response with prefixed cookies."""
        if not self._prefix:
            return response
        headers = [
            (key, self._prefix + value) if key == "set-cookie" else (key, value)
            for key, value in response.headers
        ]
        return response._replace(headers=headers)
