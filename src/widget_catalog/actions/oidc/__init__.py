"""Signing in through an OpenID Connect provider that the operator has chosen."""

from .coming_in import Newcomer, connect_identity, sign_in_identity, sign_in_newcomer
from .identities import Begun, Person
from .sealing import seal, unseal

__all__ = [
    "Begun",
    "Newcomer",
    "Person",
    "connect_identity",
    "seal",
    "sign_in_identity",
    "sign_in_newcomer",
    "unseal",
]
