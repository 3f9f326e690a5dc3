"""Signed, short-lived values that are stored in the browser.

joserfc is imported on use: importing it takes a fifteenth of the startup time.
"""

from typing import TypeVar

import msgspec

from .db.keys import SigningKey

T = TypeVar("T")

LIFETIME_S = 900
_ALGORITHM = "HS256"


def sign_value(
    key: SigningKey, value: msgspec.Struct, now_ms: int, lifetime_s: int = LIFETIME_S
) -> str:
    """The type is signed, too: a value for one purpose is invalid for another."""
    from joserfc import jwt
    from joserfc.jwk import OctKey

    claims = {
        "purpose": type(value).__name__,
        "exp": now_ms // 1000 + lifetime_s,
        "it": msgspec.to_builtins(value),
    }
    return jwt.encode({"alg": _ALGORITHM}, claims, OctKey.import_key(key.newest()))


def read_signed(key: SigningKey, text: str, shape: type[T], now_ms: int) -> T | None:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import OctKey

    rules = jwt.JWTClaimsRegistry(
        now=now_ms // 1000,
        purpose={"essential": True, "value": shape.__name__},
        exp={"essential": True},
    )
    for it in key.accepted():
        try:
            claims = jwt.decode(text, OctKey.import_key(it), algorithms=[_ALGORITHM]).claims
            rules.validate(claims)
            return msgspec.convert(claims["it"], shape)
        except (JoseError, ValueError, KeyError, TypeError, msgspec.ValidationError):
            continue  # The library raises other errors than its own for some malformed headers.
    return None
