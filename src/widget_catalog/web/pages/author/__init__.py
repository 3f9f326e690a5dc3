"""What authors look after in a browser: their widgets. The pages work without a script."""
