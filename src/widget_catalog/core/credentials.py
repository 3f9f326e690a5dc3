"""Secrets that are shown once and stored as hashes, and passwords."""

import hashlib
import secrets
import threading
from functools import cache

import argon2

from .tracing import part

# Too long to guess, so that a plain hash is enough; passwords need a slow one.
_SECRET_BYTES = 32

SESSION_PREFIX = "wcs_"
OAUTH_PREFIX = "wco_"
TOKEN_PREFIX = "wct_"  # noqa: S105
INVITATION_PREFIX = "wci_"
REFRESH_PREFIX = "wcr_"
CODE_PREFIX = "wca_"
DEVICE_PREFIX = "wcd_"

_hasher = argon2.PasswordHasher()
_PART = "password_hashing"
# Each hash uses 64 MB while it is computed, so a flood of guesses must not run in parallel.
_at_once = threading.Semaphore(2)


def new_secret(prefix: str) -> str:
    """A secret with a prefix for its kind, so that leaked ones can be recognised."""
    return prefix + secrets.token_urlsafe(_SECRET_BYTES)


def new_id() -> str:
    """An unguessable identifier, which is not a secret."""
    return secrets.token_hex(12)


def plain_code(user_code: str) -> str:
    """A code typed by people, in normal form: without hyphens, in one case."""
    return "".join(it for it in user_code[:40].upper() if it.isalnum())


def shown_code(user_code: str) -> str:
    return f"{user_code[:4]}-{user_code[4:]}"


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def hash_password(password: str) -> str:
    """Takes about a tenth of a second, by design: never on the event loop."""
    with part(_PART), _at_once:
        return _hasher.hash(password.encode("utf-8", "surrogatepass"))


def is_password(password_hash: str | None, password: str) -> bool:
    """Whether this is the password. Takes the same time if there is none."""
    try:
        with part(_PART), _at_once:
            nobodys_hash = _nobodys_hash()  # At the first call, whether the account exists or not.
            verified = _hasher.verify(
                password_hash or nobodys_hash, password.encode("utf-8", "surrogatepass")
            )
    except argon2.exceptions.VerificationError:
        return False
    return verified and password_hash is not None


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(secrets.token_urlsafe(_SECRET_BYTES))


def is_outdated(password_hash: str) -> bool:
    """Whether the hash has a lower cost than new ones."""
    return _hasher.check_needs_rehash(password_hash)
