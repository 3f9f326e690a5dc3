"""Signing keys for short-lived values (a day at most): random, in a private file.

They are not in the database, so they are in no backup: a stolen backup cannot be used to sign.
Every use reads the file, so a key created by another process is effective at once. Nodes that
share a database derive them from a secret in their settings instead.
"""

import contextlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec

from widget_contract.errors import CatalogError

from ..errors import StoreUnavailable
from .file_lock import flock_within

# A key signs for one day. It is accepted for as long as anything it signed may be valid: one day
# for a password reset link, plus a margin.
_SIGNS_FOR_MS = 24 * 3_600_000
_LIVES_FOR_MS = 25 * 3_600_000
_ACCEPTED_FOR_MS = _SIGNS_FOR_MS + _LIVES_FOR_MS
_SKEW_MS = 60_000
_KEY_BYTES = 32
# The lock is only held while a small file is written.
_TIMEOUT_S = 5.0


class _Key(msgspec.Struct, rename="camel"):
    secret: str
    made_at: int


_decode = msgspec.json.Decoder(list[_Key]).decode


class KeyFile:
    """The keys of a data folder, newest last. Shared by all processes that serve it."""

    def __init__(
        self, path: Path, now_ms: Callable[[], int], timeout_s: float = _TIMEOUT_S
    ) -> None:
        self._path = path
        self._now_ms = now_ms
        self._timeout_s = timeout_s

    def for_purpose(self, purpose: str) -> "SigningKey":
        return SigningKey(self, purpose)

    def newest(self) -> bytes:
        """The key to sign with; a new one if all are too old."""
        keys = self._read()
        if not self._signs(keys):
            with self._locked():
                keys = self._read()  # Another process may have created one meanwhile.
                if not self._signs(keys):
                    keys = [*filter(self._is_accepted, keys), self._new()]
                    self._write(keys)
        return bytes.fromhex(keys[-1].secret)

    def accepted(self) -> list[bytes]:
        """The keys whose signatures are accepted, newest first."""
        return [bytes.fromhex(it.secret) for it in reversed(self._read()) if self._is_accepted(it)]

    def rotate(self) -> None:
        """Create a new key, and invalidate all others."""
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


class SharedKeys:
    """The keys of nodes that share a database: derived from shared secrets, one per day. The first
    secret signs; signatures of the others are accepted as well.
    """

    def __init__(self, secrets_given: Sequence[str], now_ms: Callable[[], int]) -> None:
        self._secrets = [it.encode() for it in secrets_given]
        self._now_ms = now_ms

    def for_purpose(self, purpose: str) -> "SigningKey":
        return SigningKey(self, purpose)

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


class Keys(Protocol):
    def for_purpose(self, purpose: str) -> "SigningKey":
        """Keys that are invalid for another purpose."""

    def newest(self) -> bytes:
        """The key to sign with."""

    def accepted(self) -> list[bytes]:
        """The keys that a signature may be of, newest first."""

    def rotate(self) -> None:
        """Make a new key, and accept no other any more."""


_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC


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
