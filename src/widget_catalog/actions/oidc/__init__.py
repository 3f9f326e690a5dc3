"""Signing in through an OpenID Connect provider that the operator has chosen."""

from .account_linking import Newcomer, connect_identity, sign_in_identity, sign_in_newcomer
from .identities import Begun, Person

__all__ = [
    "Begun",
    "Newcomer",
    "Person",
    "connect_identity",
    "sign_in_identity",
    "sign_in_newcomer",
]
