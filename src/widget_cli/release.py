"""Which release of the tool this is; `cli/pyproject.toml` reads it from here."""

VERSION = "0.1.0"
