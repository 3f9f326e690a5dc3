"""All errors of the client. The message is human-readable."""

from widget_contract.errors import CatalogError


class ClientError(CatalogError):
    """The base class of all errors of this package."""


class InvalidRequest(ClientError, ValueError):
    """The request is invalid. `faults` are the errors, one by one."""

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults or (message,)


class NotFound(ClientError, LookupError):
    """The widget, version, scope or file does not exist, or is unlisted."""


class FeedExpired(ClientError):
    """The catalog no longer has the changes after this number. Read everything again."""


class Revoked(ClientError):
    """The file belongs to a revoked version, and is not served."""


class CatalogUnavailable(ClientError):
    """No response, or one that asks to retry later. `retry_after` is in seconds, if given."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnexpectedAnswer(ClientError):
    """A response that is not a catalog's: malformed, too large, or with an unknown encoding."""


class IntegrityError(ClientError):
    """A file does not have the size or the SHA-256 that the catalog states."""
