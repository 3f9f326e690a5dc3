"""The authors' tool."""

VERSION = "0.2.0"
"""Of the release; `cli/pyproject.toml` reads it from here."""
