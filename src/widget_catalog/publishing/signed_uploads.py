"""Presigned upload URLs: for one file of one request, with an expiry."""

import hashlib
import hmac

from ..core.files.contract import Kind
from ..core.keys import SigningKey

PREFIX = "/uploads/"
# The purpose of the keys that sign these addresses.
UPLOADS = "uploads"


def sign_upload(key: SigningKey, request_id: str, kind: Kind, expires_at: int) -> str:
    """Path and query of an upload URL."""
    signature = _signature(key.newest(), request_id, kind, expires_at)
    return f"{PREFIX}{request_id}/index.{kind}?expires={expires_at}&signature={signature}"


def is_signed(
    key: SigningKey, request_id: str, kind: Kind, expires: str, signature: str, now_ms: int
) -> bool:
    """Whether we have signed this URL, and it has not expired."""
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= 15):
        return False
    if not signature.isascii() or now_ms >= int(expires):
        return False
    return any(
        hmac.compare_digest(
            _signature(it, request_id, kind, int(expires)).encode(), signature.encode()
        )
        for it in key.accepted()
    )


def _signature(key: bytes, request_id: str, kind: Kind, expires_at: int) -> str:
    what = f"PUT {request_id} {kind} {expires_at}".encode()
    return hmac.new(key, what, hashlib.sha256).hexdigest()
