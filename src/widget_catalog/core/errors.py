"""All errors of the service. The message is a sentence that a person can act on.

Those of names and manifests are in `widget_contract/errors.py`, with the root of all. The HTTP
status of an error is decided in `web/`, not here.
"""

import re
from collections.abc import Sequence
from typing import ClassVar, Self

from widget_contract.errors import CatalogError


class FieldMessage(str):
    """A sentence about one field of a form."""

    field: str

    def __new__(cls, field: str, sentence: str) -> Self:
        message = super().__new__(cls, sentence)
        message.field = field
        return message


class InvalidQuery(CatalogError, ValueError):
    """Invalid search parameters."""


class InvalidWidget(CatalogError, ValueError):
    """An invalid widget; all errors at once, each with its field."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__(" ".join(errors))
        self.errors = errors


class InvalidAccount(CatalogError, ValueError):
    """An invalid username, e-mail address or password; all errors at once."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(" ".join(errors))
        self.errors = errors


class InvalidRequest(CatalogError, ValueError):
    """An invalid request; all errors at once."""

    def __init__(self, *errors: str) -> None:
        super().__init__(" ".join(errors))
        self.errors = errors


class NotSignedIn(CatalogError):
    """The request is not authenticated, or no longer."""


class InvalidToken(NotSignedIn):
    """The bearer token is unknown, expired or revoked."""


class NotAllowed(CatalogError):
    """The request is not authorized."""


class IsMirror(NotAllowed):
    """This catalog is a read-only mirror."""


class ConfirmationNeeded(NotAllowed):
    """The session is too old, or too weak, for this request: the person must re-authenticate."""


class SecondFactorMissing(NotAllowed):
    """The account needs a second factor and has none."""


class NotFound(CatalogError, LookupError):
    """It does not exist, or is not visible to this actor."""


class Conflict(CatalogError):
    """A conflict: the version exists, the name is taken, the last owner cannot leave."""


class TooOften(CatalogError):
    """A rate limit or quota is exceeded; `wait_s` says when to retry."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class AccountLocked(TooOften):
    """Too many have guessed the password of an account: the password alone is not enough now."""


class Busy(CatalogError):
    """Too many concurrent requests of this kind; `wait_s` says when to retry."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class ProviderFailed(CatalogError):
    """The OpenID Connect provider is unreachable, or its response is invalid."""


class InvalidImport(CatalogError, ValueError):
    """A file that cannot be imported; its first errors, and how many more there are."""

    def __init__(self, errors: list[str], more: int = 0) -> None:
        total = len(errors) + more
        about = [] if total == 1 else [f"The file has {total:,} errors:"]
        rest = [f"… and {more:,} more."] if more else []
        super().__init__("\n".join([*about, *errors, *rest]))
        self.errors = errors


class InvalidSettings(CatalogError, ValueError):
    """Invalid settings; all errors at once."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


class BundleNotFound(CatalogError, LookupError):
    """No such bundle is stored here."""


class BundleRefused(CatalogError, ValueError):
    """A bundle that is too large, or does not match its announced size or hash."""


class StoreUnavailable(CatalogError):
    """The catalog is temporarily not writable (or readable): full disk, read-only folder, busy."""


_SEVERAL_HOSTS = "Multiple connection attempts failed."
_WHICH_HOST = re.compile(r"^(?:- host: .*?, hostaddr: '.*?': )?(?:connection failed: )?")


class BackendDown(StoreUnavailable):
    """A shared backend does not respond, or refuses. Clients learn no more than that, because its
    own messages name hosts and users. They are in the cause.
    """

    sentence: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(self.sentence)

    @property
    def reason(self) -> str:
        """For operators: every line of a server's or driver's message, as a sentence."""
        said = getattr(getattr(self.__cause__, "diag", None), "message_primary", None)
        text = str(said or self.__cause__ or "it does not answer.")
        # With several hosts, the driver reports one line per host, and the last one twice.
        lines = (_WHICH_HOST.sub("", " ".join(it.split())) for it in text.splitlines())
        once = dict.fromkeys(it for it in lines if it and not it.startswith(_SEVERAL_HOSTS))
        return " ".join(it if it[-1] in ".?!:" else f"{it}." for it in once)


class DatabaseDown(BackendDown):
    sentence = (
        "The catalog's database cannot be reached just now. Everything can be read; try again soon."
    )


class DatabaseReadOnly(DatabaseDown):
    """The database responds, but accepts no writes: it was demoted, or made read-only."""

    sentence = (
        "The catalog's database takes no writes just now. Everything can be read; try again soon."
    )


class BundlesDown(BackendDown):
    sentence = (
        "The store of the bundles cannot be reached just now. Nothing can be published; try again "
        "soon."
    )


class BundlesUnusable(CatalogError):
    """The object store is not writable, and why: for the operator who starts the service."""


class DatabaseUnusable(CatalogError):
    """The database, or the connection pooler before it, is not set up as the catalog needs it."""


class DataDamaged(StoreUnavailable):
    """Stored data is damaged. Retrying does not help."""


class ReplicaDamaged(DataDamaged):
    """The read model is damaged. It is derived from the store, and rebuilt."""


class WriterBusy(StoreUnavailable):
    """Another writer has held the lock for longer than the timeout."""


class OlderRelease(StoreUnavailable):
    """A newer release has migrated the database."""

    def __init__(self) -> None:
        super().__init__(
            "This node runs an older release than the database, and changes nothing in it. "
            "Everything can be read. Try again soon, or upgrade the node."
        )


class MirrorRefused(CatalogError):
    """The catalog cannot be mirrored, or not into this one."""


class NewerDatabase(CatalogError):
    """The database has the schema of a newer release."""


class OlderDatabase(CatalogError):
    """The database has the schema of an older release, and this command does not migrate."""


class FolderUnusable(CatalogError):
    """The data folder cannot be created, read or written."""


class InvalidBackup(CatalogError, ValueError):
    """A backup that is damaged, incomplete, or not a backup; its first errors, and what to do."""

    SHOWN = 20

    def __init__(self, errors: list[str], advice: str | None = None) -> None:
        more = len(errors) - self.SHOWN
        rest = [f"… and {more:,} more errors."] if more > 0 else []
        lines = [*errors[: self.SHOWN], *rest, *([advice] if advice else [])]
        super().__init__("\n".join(lines))
        self.errors = errors


class BackupFailed(CatalogError):
    """A backup cannot be made; the previous one is unaffected."""


class CatalogMissing(CatalogError):
    """A data folder whose database was lost."""
