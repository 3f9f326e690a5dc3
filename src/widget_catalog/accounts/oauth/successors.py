"""The response to a refresh, kept for some seconds for a client that sends the same token again.

Two processes of one person may refresh concurrently; both must get the same new pair. It is
encrypted with a key derived from the old refresh token, of which the catalog stores only a hash,
so only the holder of the token can read the pair.
"""

import base64
from typing import Any

import msgspec
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ...core.db.engine import Store
from .store import has_successors, remove_successors

GRACE_MS = 30_000
_PURPOSE = b"widget-catalog: successor of a refresh token"


def seal_successor(refresh_token: str, answer: dict[str, Any]) -> str:
    return _cipher(refresh_token).encrypt(msgspec.json.encode(answer)).decode()


def open_successor(refresh_token: str, sealed: str) -> dict[str, Any]:
    return msgspec.json.decode(_cipher(refresh_token).decrypt(sealed), type=dict[str, Any])


def forget_successors(store: Store) -> None:
    """Remove expired ones. Every refresh does so, too, but there may be no further one."""
    rotated_before = store.now_ms() - GRACE_MS
    with store.reading() as connection:
        if not has_successors(connection, rotated_before):
            return
    with store.writing() as tx:
        remove_successors(tx, rotated_before)


def _cipher(refresh_token: str) -> Fernet:
    # The token has 256 random bits, so no slow derivation is needed.
    derived = HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(refresh_token.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
