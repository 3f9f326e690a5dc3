"""Identities at a provider, and the state of a sign-in in progress."""

from typing import NamedTuple

import msgspec


class Begun(msgspec.Struct, frozen=True):
    """A sign-in under way; the browser keeps it, signed. `connects` is an account's number."""

    state: str
    nonce: str
    verifier: str
    next: str = ""
    connects: int | None = None


class Person(NamedTuple):
    """Who the provider says has come. Only `subject` is theirs permanently."""

    issuer: str
    subject: str
    username: str
    email: str
