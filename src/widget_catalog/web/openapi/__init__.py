"""The OpenAPI 3.1 document of the public surface, built from plain dictionaries."""

from .document import openapi, printed

__all__ = ["openapi", "printed"]
