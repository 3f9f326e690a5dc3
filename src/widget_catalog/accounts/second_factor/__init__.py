"""Second factors: passkeys, authenticator apps and recovery codes."""
