"""The release of the tool; `cli/pyproject.toml` reads it from here."""

VERSION = "0.1.0"
