"""The failures of the rules in this package. The message is a sentence a person can act on."""


class CatalogError(Exception):
    """The root of all errors whose message is shown to people as it is."""

    @property
    def message(self) -> str:
        return str(self)


class InvalidName(CatalogError, ValueError):
    """A text that is not a scope or a widget name."""


class InvalidManifest(CatalogError, ValueError):
    """A manifest that breaks rules; all faults at once, numbered if there are several."""

    def __init__(self, faults: list[str]) -> None:
        numbered = [f"({i}) {fault}" for i, fault in enumerate(faults, 1)]
        super().__init__(" ".join(numbered if len(faults) > 1 else faults))
        self.faults = faults
