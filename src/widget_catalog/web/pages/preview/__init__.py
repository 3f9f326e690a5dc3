"""Sandboxed previews of widgets, and their files."""
