"""HTML, rendered on the server: pages for everybody, and pages that depend on who asks."""
