"""The version of this release. `/api/version`, the command line and the changelog agree on it."""

VERSION = "0.2.0"
RELEASED_AT = "2026-11-20T00:00:00.000Z"
API_VERSIONS = ("v1",)

CLI_LATEST = "0.2.0"
