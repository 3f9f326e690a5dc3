"""Second factors: passkeys, authenticator apps and recovery codes; added, asked for, required."""

from .policy import FactorPolicy

__all__ = ["FactorPolicy"]
