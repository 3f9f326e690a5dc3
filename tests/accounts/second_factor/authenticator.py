"""A software authenticator: creates passkeys and signs with them, in the browser's format."""

import hashlib
import json
import secrets
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

ORIGIN = "https://catalog.example"
_PRESENT, _VERIFIED, _BACKUP_ELIGIBLE, _BACKED_UP, _HAS_KEY = 1, 4, 8, 16, 64


def text(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


def raw(value: str) -> bytes:
    return urlsafe_b64decode(value + "=" * (-len(value) % 4))


class Authenticator:
    """One passkey. Its attributes may be changed, to make it invalid."""

    def __init__(self, host: str = "catalog.example", origin: str = ORIGIN) -> None:
        self.host = host
        self.origin = origin
        self.count = 0
        self.flags = _PRESENT | _VERIFIED
        self.id = secrets.token_bytes(32)
        self.user_handle = ""
        self._key = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """The result of `navigator.credentials.create` for these options."""
        self.user_handle = options["user"]["id"]
        numbers = self._key.public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: _whole(numbers.x), -3: _whole(numbers.y)}
        key = bytes(16) + struct.pack(">H", len(self.id)) + self.id + cbor2.dumps(public)
        made = {"fmt": "none", "attStmt": {}, "authData": self._data(_HAS_KEY) + key}
        client = self._client("webauthn.create", options["challenge"])
        return self._sent(
            clientDataJSON=text(client),
            attestationObject=text(cbor2.dumps(made)),
            transports=["internal", "hybrid", "a new one"],
        )

    def get(self, options: dict[str, Any]) -> dict[str, Any]:
        """The result of `navigator.credentials.get` for these options."""
        self.count += 1
        client = self._client("webauthn.get", options["challenge"])
        data = self._data(0)
        signed = data + hashlib.sha256(client).digest()
        return self._sent(
            clientDataJSON=text(client),
            authenticatorData=text(data),
            signature=text(self._key.sign(signed, ec.ECDSA(hashes.SHA256()))),
            userHandle=self.user_handle,
        )

    def without_verification(self) -> "Authenticator":
        """Like a security key that is only touched, without a PIN."""
        self.flags &= ~_VERIFIED
        return self

    def synced(self) -> "Authenticator":
        self.flags |= _BACKUP_ELIGIBLE | _BACKED_UP
        return self

    def _data(self, flags: int) -> bytes:
        host = hashlib.sha256(self.host.encode()).digest()
        return host + struct.pack(">BI", self.flags | flags, self.count)

    def _client(self, type_: str, challenge: str) -> bytes:
        said = {"type": type_, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(said).encode()

    def _sent(self, **response: Any) -> dict[str, Any]:
        id_ = text(self.id)
        return {"id": id_, "rawId": id_, "type": "public-key", "response": response}


def _whole(number: int) -> bytes:
    return number.to_bytes(32, "big")
