"""The OpenAPI 3.1 document of the public surface, built from plain dictionaries."""
