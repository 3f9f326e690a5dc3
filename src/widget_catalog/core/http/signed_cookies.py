"""Cookies with a signed value, which browsers keep for some minutes."""

from typing import TypeVar

import msgspec

from ..keys import read_signed, sign_value
from .call import Call
from .cookies import cookie_attributes
from .rendering import Header
from .services import Services

T = TypeVar("T")


def set_signed(services: Services, name: str, value: msgspec.Struct, lifetime_s: int) -> Header:
    signed = sign_value(services.signing_key, value, services.store.now_ms(), lifetime_s)
    attributes = cookie_attributes(services.settings.public_url)
    return ("set-cookie", f"{name}={signed}; Max-Age={lifetime_s}{attributes}")


def delete_cookie(services: Services, name: str) -> Header:
    return ("set-cookie", f"{name}=; Max-Age=0{cookie_attributes(services.settings.public_url)}")


def find_signed(services: Services, call: Call, name: str, shape: type[T]) -> T | None:
    signed = call.cookies.get(name, "")
    return read_signed(services.signing_key, signed, shape, services.store.now_ms())
