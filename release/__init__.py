"""Makes a release: `./dev release VERSION`."""
