"""Shared building blocks of the API and the pages: requests, routes, errors, rendering,
middleware.
"""
