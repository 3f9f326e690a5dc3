"""The public catalog as static files."""
