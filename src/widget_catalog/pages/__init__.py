"""Public pages, which do not depend on the user and may be cached."""
