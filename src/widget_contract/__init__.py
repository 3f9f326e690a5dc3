"""What the catalog, the authors' tool and every other client must agree on. It does no I/O."""
