"""Signing in, and what people do with their account. The pages work without a script."""
