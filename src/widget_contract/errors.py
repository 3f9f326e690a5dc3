"""The errors of this package. The message is a sentence that a person can act on."""


class CatalogError(Exception):
    """The base class of errors whose message is shown to people unchanged."""

    @property
    def message(self) -> str:
        return str(self)


class InvalidName(CatalogError, ValueError):
    """Not a valid scope or widget name."""


class InvalidManifest(CatalogError, ValueError):
    """An invalid manifest, with all errors, numbered if there are several."""

    def __init__(self, faults: list[str]) -> None:
        numbered = [f"({i}) {fault}" for i, fault in enumerate(faults, 1)]
        super().__init__(" ".join(numbered if len(faults) > 1 else faults))
        self.faults = faults
