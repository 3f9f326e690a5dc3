"""What everybody may read without signing in: the API and the bundles."""
