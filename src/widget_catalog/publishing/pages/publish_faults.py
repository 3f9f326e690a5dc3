"""Errors of a version sent by a form, next to the fields they belong to."""

from collections.abc import Mapping
from typing import NamedTuple

from widget_contract.errors import CatalogError, InvalidManifest

from ...core.errors import NotAllowed
from ...core.http.receiving import FormFile

# Form fields by key of the request; all other keys belong to the manifest.
_FIELDS = {
    "bundleSize": "bundle",
    "sha256Hash": "bundle",
    "cssSize": "style",
    "cssSha256Hash": "style",
    "scope": "scope",
    "name": "name",
}
_MISSING = {
    "manifest": "Choose the manifest, usually called widget.json.",
    "bundle": "Choose the bundle, a JavaScript module.",
}


class FieldFaults(NamedTuple):
    """Errors by field; `general` has those that belong to no field."""

    general: tuple[str, ...] = ()
    manifest: tuple[str, ...] = ()
    bundle: tuple[str, ...] = ()
    style: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    name: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(map(len, self))


def sorted_faults(fault: CatalogError, files: Mapping[str, FormFile]) -> FieldFaults:
    """If no file was chosen, that is its only error."""
    if isinstance(fault, NotAllowed):
        return FieldFaults(scope=(fault.message,))
    if not isinstance(fault, InvalidManifest):
        return FieldFaults(general=(fault.message,))
    by_field: dict[str, list[str]] = {}
    for text in fault.faults:
        key, colon, sentence = text.partition(": ")
        field = _FIELDS.get(key, "manifest") if colon else "manifest"
        shown = _capitalized(text if field == "manifest" else sentence)
        if field not in _MISSING or field in files:
            by_field.setdefault(field, []).append(shown)
    for field, sentence in _MISSING.items():
        if field not in files:
            by_field[field] = [sentence]
    if "manifest" not in files:
        by_field.pop("name", None)  # The name may be in the manifest.
    return FieldFaults(**{field: tuple(found) for field, found in by_field.items()})


def _capitalized(text: str) -> str:
    """Keys stay as they are written: `minSize: is missing.`"""
    is_sentence = not text.partition(" ")[0].endswith(":")
    return text[:1].upper() + text[1:] if is_sentence else text
