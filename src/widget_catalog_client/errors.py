"""Every failure of the client, by name. The message is a sentence for a person."""

from widget_contract.errors import CatalogError


class ClientError(CatalogError):
    """The root of all failures of this package."""


class InvalidRequest(ClientError, ValueError):
    """What was asked for breaks a rule. `faults` are its faults, one by one."""

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults or (message,)


class NotFound(ClientError, LookupError):
    """There is no such widget, version, scope or file, or it is unlisted."""


class FeedExpired(ClientError):
    """The catalog does not keep the changes after this number. Read everything again."""


class Revoked(ClientError):
    """The file belongs to a version that must not run, and is not served."""


class CatalogUnavailable(ClientError):
    """No answer, or one that says to try later. `retry_after` is in seconds, if it was given."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnexpectedAnswer(ClientError):
    """An answer that no catalog gives: another shape, too large, packed in an unknown way."""


class IntegrityError(ClientError):
    """A file does not have the size or the SHA-256 that the catalog states."""
