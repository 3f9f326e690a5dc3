"""Keys that sign snapshots: Ed25519, in PEM files compatible with OpenSSL."""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from ..core.errors import FolderUnusable, InvalidKey

_MAX_BYTES = 1 << 16


class CreatedKeys(NamedTuple):
    private: Path
    public: Path
    public_pem: str
    fingerprint: str


class SigningKey(NamedTuple):
    key: Ed25519PrivateKey
    fingerprint: str


class VerifyingKey(NamedTuple):
    key: Ed25519PublicKey
    fingerprint: str

    def has_signed(self, content: bytes, signature: bytes) -> bool:
        try:
            self.key.verify(signature, content)
        except InvalidSignature:
            return False
        return True


def create_keys(name: Path) -> CreatedKeys:
    """Write `NAME.key`, readable only by its owner, and `NAME.pub`. Never replaces a file."""
    private, public = name.with_name(f"{name.name}.key"), name.with_name(f"{name.name}.pub")
    for path in (private, public):
        if path.exists() or path.is_symlink():
            raise FolderUnusable(f"{path} is there already, and no key is ever overwritten.")
    key = Ed25519PrivateKey.generate()
    public_pem = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    _write_new(private, secret, 0o600)
    try:
        _write_new(public, public_pem, 0o644)
    except FolderUnusable:
        private.unlink()
        raise
    return CreatedKeys(private, public, public_pem.decode(), _fingerprint(key.public_key()))


def read_signing_key(path: Path) -> SigningKey:
    content = _read(path)
    try:
        key = load_pem_private_key(content, password=None)
    except TypeError:
        raise InvalidKey(f"{path} is protected by a passphrase. Give a key without one.") from None
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidKey(f"{path} is not a private key. Create one with keys create.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidKey(f"{path} is not an Ed25519 key. Create one with keys create.")
    return SigningKey(key, _fingerprint(key.public_key()))


def read_verifying_key(path: Path) -> VerifyingKey:
    content = _read(path)
    if b"PRIVATE KEY" in content:
        raise InvalidKey(f"{path} is a private key. Give the public one, which ends in .pub.")
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidKey(f"{path} is not a public key. Create one with keys create.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InvalidKey(f"{path} is not an Ed25519 key. Create one with keys create.")
    return VerifyingKey(key, _fingerprint(key))


def _fingerprint(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes(Encoding.Raw, PublicFormat.Raw)).hexdigest()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_BYTES)
    except OSError as error:
        raise InvalidKey(f"The key {path} cannot be read: {error.strerror}.") from None


def _write_new(path: Path, content: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(path, flags, mode), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if not isinstance(error, FileExistsError):
            with contextlib.suppress(OSError):
                path.unlink()
        raise FolderUnusable(f"{path} cannot be written: {error.strerror}.") from None
