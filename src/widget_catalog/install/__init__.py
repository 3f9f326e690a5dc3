"""Install: the authors' tool, offered by the catalog itself."""
