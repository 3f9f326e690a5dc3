"""Every failure of the service, by name. The message is a sentence a person can act on.

Those of names and manifests are in `widget_contract/errors.py`, with the root of all.
What status an error has on the wire is decided in `web/`, not here.
"""

import re
from typing import ClassVar

from widget_contract.errors import CatalogError


class InvalidQuery(CatalogError, ValueError):
    """Search parameters that cannot be understood."""


class InvalidWidget(CatalogError, ValueError):
    """A widget that breaks rules; all errors at once, each with the field it is in."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


class InvalidAccount(CatalogError, ValueError):
    """A user name, e-mail address or password that cannot be taken; all errors at once."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


class InvalidRequest(CatalogError, ValueError):
    """A request that cannot be understood or breaks a rule."""


class NotSignedIn(CatalogError):
    """Nobody, or nobody any more, is behind this request."""


class NotAllowed(CatalogError):
    """Somebody asks for what is not theirs to do."""


class IsMirror(NotAllowed):
    """This catalog is a copy of another one, and only that one changes it."""


class ConfirmationNeeded(NotAllowed):
    """A session that is too old, or too weak, for what is asked: the person must confirm first."""


class SecondFactorMissing(NotAllowed):
    """An account that must have a second factor, and has none."""


class NotFound(CatalogError, LookupError):
    """There is no such thing, or none for the one who asks."""


class Conflict(CatalogError):
    """Not any more: the version exists, the name is taken, the last owner cannot leave."""


class TooOften(CatalogError):
    """Tried too often; `wait_s` says when the next try is heard."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class Busy(CatalogError):
    """More of this is asked for at the same time than the service does; `wait_s` says when to
    try again."""

    def __init__(self, message: str, wait_s: int) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class ProviderFailed(CatalogError):
    """The OpenID Connect provider cannot be asked, or answers what cannot be believed."""


class InvalidImport(CatalogError, ValueError):
    """A file that cannot be imported; its first faults, and how many more there are."""

    def __init__(self, faults: list[str], more: int = 0) -> None:
        total = len(faults) + more
        about = [] if total == 1 else [f"The file has {total:,} faults:"]
        rest = [f"… and {more:,} more."] if more else []
        super().__init__("\n".join([*about, *faults, *rest]))
        self.faults = faults


class InvalidSettings(CatalogError, ValueError):
    """Settings that cannot be used; all errors at once."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class BundleNotFound(CatalogError, LookupError):
    """No such bundle is stored here."""


class BundleRefused(CatalogError, ValueError):
    """A bundle that is too large, or whose size or hash is not the one stated."""


class StoreUnavailable(CatalogError):
    """The catalog cannot be written (or read) just now: full disk, read-only folder, busy."""


_SEVERAL_HOSTS = "Multiple connection attempts failed."
_WHICH_HOST = re.compile(r"^(?:- host: .*?, hostaddr: '.*?': )?(?:connection failed: )?")


class BackendDown(StoreUnavailable):
    """What nodes share does not answer, or refuses. Clients learn no more than that: its own
    words name hosts and users. The cause has them."""

    sentence: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(self.sentence)

    @property
    def reason(self) -> str:
        """For operators: every line that a server or driver says, as a sentence."""
        said = getattr(getattr(self.__cause__, "diag", None), "message_primary", None)
        text = str(said or self.__cause__ or "it does not answer.")
        # Of several hosts a driver reports each, and the last one twice.
        lines = (_WHICH_HOST.sub("", " ".join(it.split())) for it in text.splitlines())
        once = dict.fromkeys(it for it in lines if it and not it.startswith(_SEVERAL_HOSTS))
        return " ".join(it if it[-1] in ".?!:" else f"{it}." for it in once)


class DatabaseDown(BackendDown):
    sentence = (
        "The catalog's database cannot be reached just now. Everything can be read; try again soon."
    )


class DatabaseReadOnly(DatabaseDown):
    """It answers, and takes no writes: it was demoted, or its operator wants it so."""

    sentence = (
        "The catalog's database takes no writes just now. Everything can be read; try again soon."
    )


class BundlesDown(BackendDown):
    sentence = (
        "The store of the bundles cannot be reached just now. Nothing was published; try again "
        "soon."
    )


class BundlesUnusable(CatalogError):
    """The object store cannot be written to, and why: for the operator who starts the service."""


class DataDamaged(StoreUnavailable):
    """What was read is not what was written. It does not pass by waiting."""


class WriterBusy(StoreUnavailable):
    """Another writer has held the lock for longer than this one waits."""


class OlderRelease(StoreUnavailable):
    """A newer release has migrated the database that this one runs with."""

    def __init__(self) -> None:
        super().__init__(
            "This node runs an older release than the database, and changes nothing in it. "
            "Everything can be read. Try again soon, or upgrade the node."
        )


class MirrorRefused(CatalogError):
    """What cannot be mirrored, or not into this catalog."""


class NewerDatabase(CatalogError):
    """The database was made by a newer release than this one."""


class OlderDatabase(CatalogError):
    """The database was made by an older release, and what asks for it upgrades nothing."""


class FolderUnusable(CatalogError):
    """The data folder cannot be made, read or written."""


class InvalidBackup(CatalogError, ValueError):
    """A backup that is damaged, incomplete, or none at all; its first faults, and what to do."""

    SHOWN = 20

    def __init__(self, faults: list[str], advice: str | None = None) -> None:
        more = len(faults) - self.SHOWN
        rest = [f"… and {more:,} more faults."] if more > 0 else []
        lines = [*faults[: self.SHOWN], *rest, *([advice] if advice else [])]
        super().__init__("\n".join(lines))
        self.faults = faults


class InvalidSnapshot(InvalidBackup):
    """A snapshot that is damaged, changed, not signed by whom it should be, or none at all."""


class SnapshotRefused(CatalogError):
    """A snapshot that does not go with what is there, or cannot be made of it."""


class InvalidKey(CatalogError, ValueError):
    """A file that is not the key that is needed."""


class BackupFailed(CatalogError):
    """A backup that cannot be made; the one before it is still there."""


class CatalogMissing(CatalogError):
    """A data folder without a database where there are traces of one."""
