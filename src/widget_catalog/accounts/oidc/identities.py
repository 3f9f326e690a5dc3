"""Identities at a provider, and the state of a sign-in in progress."""

from typing import NamedTuple

import msgspec


class Begun(msgspec.Struct, frozen=True):
    """A sign-in in progress; stored in the browser, signed. `connects` is an account's number."""

    state: str
    nonce: str
    verifier: str
    next: str = ""
    connects: int | None = None


class Person(NamedTuple):
    """The person according to the provider. Only `subject` is permanent."""

    issuer: str
    subject: str
    username: str
    email: str
