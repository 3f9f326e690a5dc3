"""The public API and the bundles."""
