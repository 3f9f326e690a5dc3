"""Server protocols around `kit.http`: RSGI for serve, ASGI for other servers and tests."""
