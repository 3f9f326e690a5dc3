"""Moderation: reports, revocations, reserved names."""
