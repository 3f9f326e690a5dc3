"""The public API and the published files."""
