"""An opened data folder."""
