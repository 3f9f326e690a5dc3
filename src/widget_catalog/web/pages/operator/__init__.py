"""Pages for operators to manage the catalog. They work without JavaScript."""
