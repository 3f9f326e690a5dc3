"""SecretBox: encrypts secrets that must be readable again, with a key outside the database.

So a copy of the database alone does not compute anybody's codes. To lose the key is to lose
the authenticator apps of all accounts, and nothing else: passkeys and recovery codes go on.
"""

import base64
import hmac
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from ...domain.errors import StoreUnavailable


class SecretBox:
    def __init__(self, key_file: Path) -> None:
        self._key_file = key_file

    def seal(self, secret: str) -> str:
        try:
            self._make_key()
            return self._fernet().encrypt(secret.encode()).decode()
        except (OSError, ValueError) as fault:
            raise StoreUnavailable(
                f"The key of the second factors cannot be used just now ({fault}). Try again later."
            ) from None

    def open(self, sealed: str) -> str | None:
        """The secret; None if the key is lost, or is another one."""
        try:
            return self._fernet().decrypt(sealed).decode()
        except (OSError, ValueError, InvalidToken):
            return None

    def _fernet(self) -> Fernet | MultiFernet:
        return Fernet(self._key_file.read_bytes().strip())

    def _make_key(self) -> None:
        """Once: of two processes that try, one wins, and nobody sees half a key."""
        if self._key_file.exists():
            return
        folder = self._key_file.parent
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".key-") as made:  # Mode 0600.
            made.write(Fernet.generate_key() + b"\n")
            made.flush()
            os.fsync(made.fileno())
            try:
                os.link(made.name, self._key_file)
            except FileExistsError:
                return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class SharedSecretBox(SecretBox):
    """That of nodes which share a database: its key is made of secrets that all are given. The
    first one seals; what another one has sealed can be opened as well."""

    def __init__(self, secrets_given: Sequence[str]) -> None:
        self._keys = MultiFernet([Fernet(_derived(it)) for it in secrets_given])

    def _fernet(self) -> MultiFernet:
        return self._keys

    def _make_key(self) -> None:
        pass


def _derived(secret: str) -> bytes:
    return base64.urlsafe_b64encode(hmac.digest(secret.encode(), b"second factors", "sha256"))
