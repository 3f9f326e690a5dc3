"""SecretBox: encrypts stored secrets with a key outside the database.

So a copy of the database alone is not enough to compute codes. If the key is lost, only the
authenticator apps are lost: passkeys and recovery codes still work.
"""

import base64
import hmac
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from .errors import StoreUnavailable


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
        """The secret; None if the key is lost or differs."""
        try:
            return self._fernet().decrypt(sealed).decode()
        except (OSError, ValueError, InvalidToken):
            return None

    def _fernet(self) -> Fernet | MultiFernet:
        return Fernet(self._key_file.read_bytes().strip())

    def _make_key(self) -> None:
        """Atomic: of two concurrent processes one wins, and a partial key is never visible."""
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
    """For nodes that share a database: the key is derived from their shared secrets. The first one
    encrypts; values encrypted with the others can be decrypted as well.
    """

    def __init__(self, secrets_given: Sequence[str]) -> None:
        self._keys = MultiFernet([Fernet(_derived(it)) for it in secrets_given])

    def _fernet(self) -> MultiFernet:
        return self._keys

    def _make_key(self) -> None:
        pass


def _derived(secret: str) -> bytes:
    return base64.urlsafe_b64encode(hmac.digest(secret.encode(), b"second factors", "sha256"))
