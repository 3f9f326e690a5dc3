"""Forms with a passkey: fields filled in by the page's script, and signed hidden fields."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ...core.errors import InvalidRequest
from ...core.http.services import Services
from ...core.keys import read_signed, sign_value

T = TypeVar("T")


def credential_in(form: Mapping[str, str]) -> dict[str, Any] | None:
    """The browser's response, if the form has one."""
    text = form.get("credential", "")
    if not text:
        return None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidRequest("The browser did not send a passkey. Try again.")
    return found


def signed_field(services: Services, value: msgspec.Struct) -> str:
    """For a hidden field of a form: the value is returned unchanged, within some minutes."""
    return sign_value(services.signing_key, value, services.store.now_ms())


def read_signed_field(services: Services, form: Mapping[str, str], shape: type[T]) -> T:
    text = form.get("asked", "")
    found = read_signed(services.signing_key, text, shape, services.store.now_ms())
    if found is None:
        raise InvalidRequest("This page has expired. Reload it.")
    return found
