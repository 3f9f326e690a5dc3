"""Bindings of the service to server protocols."""
