"""HTML, rendered on the server: public pages, and pages of signed-in users."""
