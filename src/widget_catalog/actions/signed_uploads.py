"""Addresses that a file can be uploaded to: signed, for one file of one request, for a while."""

import hashlib
import hmac

from ..bundles.store import Kind

PREFIX = "/uploads/"


def sign_upload(key: bytes, request_id: str, kind: Kind, expires_at: int) -> str:
    """The path and query of an upload's address."""
    signature = _signature(key, request_id, kind, expires_at)
    return f"{PREFIX}{request_id}/index.{kind}?expires={expires_at}&signature={signature}"


def is_signed(
    key: bytes, request_id: str, kind: Kind, expires: str, signature: str, now_ms: int
) -> bool:
    """Whether we have made this address, and it is still good."""
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= 15):
        return False
    if not signature.isascii():
        return False
    wanted = _signature(key, request_id, kind, int(expires))
    return hmac.compare_digest(wanted.encode(), signature.encode()) and now_ms < int(expires)


def _signature(key: bytes, request_id: str, kind: Kind, expires_at: int) -> str:
    what = f"PUT {request_id} {kind} {expires_at}".encode()
    return hmac.new(key, what, hashlib.sha256).hexdigest()
