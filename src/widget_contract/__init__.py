"""Rules shared by the catalog, the authors' tool and other clients. No I/O."""
