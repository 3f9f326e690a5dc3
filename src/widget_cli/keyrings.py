"""Secrets in the system's keyring, if the extra `keyring` is installed."""

from typing import Any

from .errors import ToolError

_SERVICE = "widget-cli"


def keep(url: str, secret: str) -> None:
    try:
        _keyring().set_password(_SERVICE, url, secret)
    except Exception as error:
        raise _unusable(error) from None


def find(url: str) -> str | None:
    try:
        kept: str | None = _keyring().get_password(_SERVICE, url)
    except Exception as error:
        raise _unusable(error) from None
    return kept


def forget(url: str) -> None:
    try:
        if find(url) is not None:
            _keyring().delete_password(_SERVICE, url)
    except Exception as error:
        raise _unusable(error) from None


def _keyring() -> Any:
    try:
        import keyring
    except ImportError:
        raise ToolError(
            "The keyring cannot be used: a package is missing.",
            'Install it with: pip install "widget-cli[keyring]" (or sign in without --keyring)',
        ) from None
    return keyring


# The exceptions depend on the system's keyring, and some occur only when it is used.
def _unusable(error: Exception) -> ToolError:
    if isinstance(error, ToolError):
        return error
    return ToolError(
        f"The system's keyring cannot be used ({type(error).__name__}).",
        "Unlock it, or sign in again without --keyring.",
    )
