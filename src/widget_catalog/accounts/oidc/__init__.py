"""Signing in through an OpenID Connect provider that the operator has chosen."""
