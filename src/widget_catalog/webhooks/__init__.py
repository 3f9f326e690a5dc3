"""Webhooks: managed by people, delivered by one process of the service."""
