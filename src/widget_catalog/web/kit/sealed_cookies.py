"""Cookies in which a browser keeps something for us for some minutes: signed, and its own."""

from typing import TypeVar

import msgspec

from ...actions.oidc import seal, unseal
from ..internal.sessions import cookie_attributes
from .call import Call, Services, cookie_of
from .rendering import Header

T = TypeVar("T")


def keep(services: Services, name: str, value: msgspec.Struct, lifetime_s: int) -> Header:
    sealed = seal(services.sealing_key, value, services.store.now_ms(), lifetime_s)
    return ("set-cookie", f"{name}={sealed}; Max-Age={lifetime_s}{cookie_attributes(services)}")


def forget(services: Services, name: str) -> Header:
    return ("set-cookie", f"{name}=; Max-Age=0{cookie_attributes(services)}")


def find_kept(services: Services, call: Call, name: str, shape: type[T]) -> T | None:
    sealed = cookie_of(call.request, name) or ""
    return unseal(services.sealing_key, sealed, shape, services.store.now_ms())
