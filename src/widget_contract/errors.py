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

    def __init__(self, errors: list[str]) -> None:
        numbered = [f"({i}) {error}" for i, error in enumerate(errors, 1)]
        super().__init__(" ".join(numbered if len(errors) > 1 else errors))
        self.errors = errors
