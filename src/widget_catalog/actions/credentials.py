"""Secrets that are given away once and kept only as their hash, and passwords."""

import hashlib
import secrets
import threading
from functools import cache

import argon2

# Long enough that nobody guesses one, so a plain hash protects them; passwords need more.
_SECRET_BYTES = 32

SESSION_PREFIX = "wcs_"
OAUTH_PREFIX = "wco_"
TOKEN_PREFIX = "wct_"  # noqa: S105
INVITATION_PREFIX = "wci_"
REFRESH_PREFIX = "wcr_"
CODE_PREFIX = "wca_"
DEVICE_PREFIX = "wcd_"

_hasher = argon2.PasswordHasher()
# Each takes 64 MB while it runs; a crowd of guessers must not take all there is.
_at_once = threading.Semaphore(2)


def new_secret(prefix: str) -> str:
    """A secret that says by its beginning what it is, so that one which leaks is recognised."""
    return prefix + secrets.token_urlsafe(_SECRET_BYTES)


def new_id() -> str:
    """A name for a thing that nobody can guess, but that is no secret."""
    return secrets.token_hex(12)


def plain_code(user_code: str) -> str:
    """A code that people type, as it is stored: with or without hyphens, in any case."""
    return "".join(it for it in user_code[:40].upper() if it.isalnum())


def shown_code(user_code: str) -> str:
    return f"{user_code[:4]}-{user_code[4:]}"


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def hash_password(password: str) -> str:
    """Takes about a tenth of a second, on purpose: never on the event loop."""
    with _at_once:
        return _hasher.hash(password.encode("utf-8", "surrogatepass"))


def is_password(password_hash: str | None, password: str) -> bool:
    """Whether this is the password. Takes as long where there is none."""
    nobodys_hash = _nobodys_hash()  # Made at the first call, for whichever account.
    try:
        with _at_once:
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
    """Whether the hash was made with a lower cost than new ones are."""
    return _hasher.check_needs_rehash(password_hash)
