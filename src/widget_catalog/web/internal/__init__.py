"""The internal API: what signed-in people and the authors' tool speak with the service."""
