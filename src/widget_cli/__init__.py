"""The authors' tool."""

VERSION = "0.1.0"
"""Of the release; `cli/pyproject.toml` reads it from here."""
