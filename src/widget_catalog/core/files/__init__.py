"""Storage of published files: on disk or in an object store, with a cache."""
