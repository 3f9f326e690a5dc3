"""Optional packages, and the extras of this distribution that install them."""

import importlib.util

# A package that is there only if the extra is installed.
PACKAGES = {"icons": "fontTools", "postgresql": "psycopg", "s3": "boto3"}


def is_installed(extra: str) -> bool:
    return importlib.util.find_spec(PACKAGES[extra]) is not None


def missing_packages(extra: str) -> str:
    """The end of a message about something that needs the extra."""
    return f'needs packages that are not installed: pip install "widget-catalog[{extra}]"'
