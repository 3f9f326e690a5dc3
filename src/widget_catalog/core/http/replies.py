"""The JSON responses of the internal API."""

from typing import Any

import msgspec

from .http import NOSNIFF, Response

_JSON = ("content-type", "application/json; charset=utf-8")
_NO_STORE = ("cache-control", "no-store")
# The encoder does not know our subclasses of str.
_encode = msgspec.json.Encoder(enc_hook=str).encode


def reply(value: Any, *headers: tuple[str, str], status: int = 200) -> Response:
    """A JSON response that must not be cached."""
    return Response(status, [_JSON, _NO_STORE, NOSNIFF, *headers], _encode(value))


def done(*headers: tuple[str, str]) -> Response:
    return reply({"success": True}, *headers)
