"""Shared factories and fixtures, which use the real code."""

from widget_catalog.app.hooks import connect_hooks

# Here, because tests also use the store in processes of their own.
connect_hooks()
