"""Every failure the catalog knows, by name. The message is a sentence a person can act on.

What status an error has on the wire is decided in `web/`, not here.
"""


class CatalogError(Exception):
    """The root of all errors that are told to people as they are."""

    @property
    def message(self) -> str:
        return str(self)


class InvalidName(CatalogError, ValueError):
    """A text that is not a scope or a widget name."""


class InvalidQuery(CatalogError, ValueError):
    """Search parameters that cannot be understood."""


class InvalidWidget(CatalogError, ValueError):
    """A widget or version that breaks a rule; `field` says where."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class InvalidManifest(CatalogError, ValueError):
    """A manifest that breaks rules; all faults at once."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(" ".join(f"({i}) {fault}" for i, fault in enumerate(faults, 1)))
        self.faults = faults


class InvalidImport(CatalogError, ValueError):
    """A file to import has a fault; `line` says where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"Line {line}: {message}")
        self.line = line


class InvalidSettings(CatalogError, ValueError):
    """Settings that cannot be used; all faults at once."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class BundleNotFound(CatalogError, LookupError):
    """No such bundle is stored here."""


class BundleRefused(CatalogError, ValueError):
    """A bundle that is too large, or whose size or hash is not the one stated."""


class StoreUnavailable(CatalogError):
    """The catalog cannot be written (or read) just now: full disk, read-only folder, busy."""


class NewerDatabase(CatalogError):
    """The database was made by a newer release than this one."""


class FolderUnusable(CatalogError):
    """The data folder cannot be made, read or written."""
