"""Pages that are the same for everybody, so that caches may keep them."""
