"""Codes typed by people: TOTP codes of authenticator apps (RFC 6238), and recovery codes."""

import hmac
import re
import secrets

import pyotp

from ...core.credentials import hash_secret

RECOVERY_CODES = 10
_STEP_MS = 30_000
# The previous and the next code are valid, too: clocks differ, and people need time to type.
_TOLERANCE = 1
_DIGITS = re.compile(r"[0-9]{6}\Z")
# 31 letters and digits that are not easily confused, so a code has 79 bits.
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 16
_GROUP = 4


def new_app_secret() -> str:
    return pyotp.random_base32()


def setup_address(secret: str, username: str, service_name: str) -> str:
    """The `otpauth:` URI that an authenticator app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=service_name)


def qr_code(text: str) -> str:
    """A QR code as a data URL (SVG)."""
    import segno  # Slow to load, and rarely needed.

    address: str = segno.make(text, error="m").svg_data_uri(scale=5, border=3, light="#fff")
    return address


def is_app_code(code: str) -> bool:
    """Whether it looks like a code of an app; anything else can only be a recovery code."""
    return _DIGITS.match(plain_code(code)) is not None


def find_step(secret: str, code: str, now_ms: int, after: int = -1) -> int | None:
    """The time step that a code belongs to; None if it is wrong, or the step was used."""
    app, current = pyotp.TOTP(secret), now_ms // _STEP_MS
    given = plain_code(code).encode("utf-8", "surrogatepass")
    for step in range(current - _TOLERANCE, current + _TOLERANCE + 1):
        if hmac.compare_digest(app.generate_otp(step).encode(), given) and step > after:
            return step
    return None


def new_recovery_codes() -> list[str]:
    return [_new_recovery_code() for _ in range(RECOVERY_CODES)]


def hash_recovery_code(code: str) -> str:
    """Each has 79 random bits, so a plain hash protects it."""
    return hash_secret(f"recovery code {plain_code(code)}")


def plain_code(code: str) -> str:
    """In normal form: people type spaces, hyphens and capitals as they like."""
    return "".join(it for it in code[:64] if it not in " -\t").lower()


def _new_recovery_code() -> str:
    text = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return "-".join(text[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))
