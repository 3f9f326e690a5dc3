"""Import, export and move; the line format."""
