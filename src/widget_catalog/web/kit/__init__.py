"""What the API and the pages are built with: requests, routes, errors, rendering, middleware."""
