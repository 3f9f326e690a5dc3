"""Keys outside the database: in no backup, so a stolen one cannot be used to sign, or to compute
codes.

Signing keys for short-lived values (a day at most) are random, in a private file. Every use reads
it, so a key created by another process is effective at once. Stored secrets are encrypted with the
key of a SecretBox; if it is lost, only the authenticator apps are lost: passkeys and recovery codes
still work. Nodes that share a database derive both from a secret in their settings instead.

joserfc and cryptography are imported on use: that takes a fifteenth of the startup time.
"""

import base64
import contextlib
import hmac
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec

from widget_contract.errors import CatalogError

from .data_folder import sync
from .db.file_lock import flock_within
from .errors import StoreUnavailable

if TYPE_CHECKING:
    from cryptography.fernet import Fernet, MultiFernet

# A key signs for one day. It is accepted for as long as anything it signed may be valid: one day
# for a password reset link, plus a margin.
_SIGNS_FOR_MS = 24 * 3_600_000
_LIVES_FOR_MS = 25 * 3_600_000
_ACCEPTED_FOR_MS = _SIGNS_FOR_MS + _LIVES_FOR_MS
_SKEW_MS = 60_000
_KEY_BYTES = 32
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
# The lock is only held while a small file is written.
_TIMEOUT_S = 5.0


class _Key(msgspec.Struct, rename="camel"):
    secret: str
    made_at: int


_decode = msgspec.json.Decoder(list[_Key]).decode


class Keys:
    def for_purpose(self, purpose: str) -> "SigningKey":
        """Keys that are invalid for another purpose."""
        return SigningKey(self, purpose)

    def newest(self) -> bytes:
        """The key to sign with."""
        raise NotImplementedError

    def accepted(self) -> list[bytes]:
        """The keys that a signature may be of, newest first."""
        raise NotImplementedError

    def rotate(self) -> None:
        """Make a new key, and accept no other any more."""
        raise NotImplementedError


class KeyFile(Keys):
    """The keys of a data folder, newest last. Shared by all processes that serve it."""

    def __init__(
        self, path: Path, now_ms: Callable[[], int], timeout_s: float = _TIMEOUT_S
    ) -> None:
        self._path = path
        self._now_ms = now_ms
        self._timeout_s = timeout_s

    def newest(self) -> bytes:
        keys = self._read()
        if not self._signs(keys):
            with self._locked():
                keys = self._read()  # Another process may have created one meanwhile.
                if not self._signs(keys):
                    keys = [*filter(self._is_accepted, keys), self._new()]
                    self._write(keys)
        return bytes.fromhex(keys[-1].secret)

    def accepted(self) -> list[bytes]:
        return [bytes.fromhex(it.secret) for it in reversed(self._read()) if self._is_accepted(it)]

    def rotate(self) -> None:
        with self._locked():
            self._write([self._new()])

    def _new(self) -> _Key:
        return _Key(secrets.token_hex(_KEY_BYTES), self._now_ms())

    def _signs(self, keys: Sequence[_Key]) -> bool:
        return bool(keys) and 0 <= self._now_ms() - keys[-1].made_at < _SIGNS_FOR_MS

    def _is_accepted(self, key: _Key) -> bool:
        return self._now_ms() - key.made_at < _ACCEPTED_FOR_MS

    def _read(self) -> list[_Key]:
        try:
            return _decode(self._path.read_bytes())
        except (FileNotFoundError, msgspec.DecodeError):
            # New keys are created: what was signed with the lost ones expires within minutes.
            return []
        except OSError as error:
            raise self._unusable(error) from None

    def _write(self, keys: Sequence[_Key]) -> None:
        """Called under the lock. Readers see the old file or the new one."""
        draft = self._path.with_name(f".{self._path.name}.part")
        draft.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
            file.write(msgspec.json.encode(keys))
        draft.replace(self._path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            lock = os.open(self._path.with_name(f"{self._path.name}.lock"), _LOCK_FLAGS, 0o600)
            try:
                if not flock_within(lock, self._timeout_s):
                    raise StoreUnavailable(
                        f"Another process has locked {self._path}.lock for "
                        f"{self._timeout_s:g} seconds. Try again, or end that process."
                    )
                yield
            finally:
                os.close(lock)
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> StoreUnavailable:
        return StoreUnavailable(f"The keys in {self._path} cannot be used: {error.strerror}.")


class SharedKeys(Keys):
    """The keys of nodes that share a database: derived from shared secrets, one per day. The first
    secret signs; signatures of the others are accepted as well.
    """

    def __init__(self, secrets_given: Sequence[str], now_ms: Callable[[], int]) -> None:
        self._secrets = [it.encode() for it in secrets_given]
        self._now_ms = now_ms

    def newest(self) -> bytes:
        return self._key(self._secrets[0], self._now_ms())

    def accepted(self) -> list[bytes]:
        now = self._now_ms()
        # Clocks of nodes differ a little, and values signed before midnight are still valid.
        first, last = (now - _LIVES_FOR_MS) // _SIGNS_FOR_MS, (now + _SKEW_MS) // _SIGNS_FOR_MS
        days = range(last, first - 1, -1)
        return [self._key(it, day * _SIGNS_FOR_MS) for it in self._secrets for day in days]

    def rotate(self) -> None:
        raise FromSettings(
            "The keys of these nodes are made of the setting secret_key. Put a new secret before "
            "the present one, on every node, and replace the workers (SIGHUP)."
        )

    def _key(self, secret: bytes, at_ms: int) -> bytes:
        return hmac.digest(secret, f"signing {at_ms // _SIGNS_FOR_MS}".encode(), "sha256")


class FromSettings(CatalogError):
    """Keys that no command can change."""


class SigningKey(NamedTuple):
    """The keys for one purpose: a signature is invalid for any other purpose."""

    keys: Keys
    purpose: str

    def newest(self) -> bytes:
        return self._derived(self.keys.newest())

    def accepted(self) -> list[bytes]:
        return [self._derived(it) for it in self.keys.accepted()]

    def _derived(self, key: bytes) -> bytes:
        return hmac.digest(key, self.purpose.encode(), "sha256")


class SecretBox:
    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file

    def seal(self, secret: str) -> str:
        try:
            self._make_key()
            return self._fernet().encrypt(secret.encode()).decode()
        except (OSError, ValueError) as error:
            raise StoreUnavailable(
                f"The key of the second factors cannot be used just now ({error}). Try again later."
            ) from None

    def open(self, sealed: str) -> str | None:
        """The secret; None if the key is lost or differs."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet().decrypt(sealed).decode()
        except (OSError, ValueError, InvalidToken):
            return None

    def _fernet(self) -> "Fernet | MultiFernet":
        from cryptography.fernet import Fernet

        return Fernet(self._key_file.read_bytes().strip())

    def _make_key(self) -> None:
        """Atomic: of two concurrent processes one wins, and a partial key is never visible."""
        if self._key_file.exists():
            return
        from cryptography.fernet import Fernet

        folder = self._key_file.parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".key-") as made:  # Mode 0600.
            made.write(Fernet.generate_key() + b"\n")
            made.flush()
            os.fsync(made.fileno())
            try:
                os.link(made.name, self._key_file)
            except FileExistsError:
                return
        sync(folder)


class SharedSecretBox(SecretBox):
    """For nodes that share a database: the key is derived from their shared secrets. The first one
    encrypts; values encrypted with the others can be decrypted as well.
    """

    def __init__(self, secrets_given: Sequence[str]) -> None:
        self._secrets = secrets_given

    def _fernet(self) -> "MultiFernet":
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(_derived(it)) for it in self._secrets])

    def _make_key(self) -> None:
        pass


def _derived(secret: str) -> bytes:
    return base64.urlsafe_b64encode(hmac.digest(secret.encode(), b"second factors", "sha256"))


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
    for secret in key.accepted():
        try:
            claims = jwt.decode(text, OctKey.import_key(secret), algorithms=[_ALGORITHM]).claims
            rules.validate(claims)
            return msgspec.convert(claims["it"], shape)
        except (JoseError, ValueError, KeyError, TypeError, msgspec.ValidationError):
            continue  # The library raises other errors than its own for some malformed headers.
    return None
