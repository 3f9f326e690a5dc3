"""Widget Catalog: a self-hostable catalog of dashboard widgets."""
