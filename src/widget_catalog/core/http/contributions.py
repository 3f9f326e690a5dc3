"""What features contribute to the pages of others."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Contributions(NamedTuple):
    """Collected by `features.py: list_contributions`."""

    templates: Mapping[str, Path]
    """Folders of templates, by the first part of their names."""
    menus: Mapping[str, Sequence[tuple[str, str]]]
    """Path and label of the links in each menu."""
    texts: Mapping[str, Sequence[str]]
    """What is said in each of `PLACES`."""


PLACES = {
    "operator_can": "The end of: an operator can, in every scope, ...",
    "on_dismissal": "A sentence about what happens when an operator is dismissed.",
    "install_page": "The path of the page that says how to install the authors' tool.",
}
NO_CONTRIBUTIONS = Contributions({}, {"account": (), "operate": ()}, dict.fromkeys(PLACES, ()))
