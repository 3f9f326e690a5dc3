"""Second factors: passkeys, authenticator apps and recovery codes."""

from .policy import FactorPolicy

__all__ = ["FactorPolicy"]
