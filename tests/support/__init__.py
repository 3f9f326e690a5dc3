"""Shared factories and fixtures, which use the real code."""

from widget_catalog.app.features import install_features

# Here, because tests also use the store in processes of their own.
install_features()
