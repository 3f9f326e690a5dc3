"""Every field of a version survives: in the database, and in an export that is imported again."""

from collections.abc import Callable
from datetime import UTC, datetime
from types import UnionType
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from widget_catalog.catalog.model.widgets import AttachedFile, Revocation, Style, Version, Widget
from widget_catalog.catalog.store.drafts import draft
from widget_catalog.catalog.store.rows import VersionColumns, version_from, version_row
from widget_catalog.core.files.contract import Kind
from widget_catalog.transfer.export_catalog import encode_line, name_files
from widget_catalog.transfer.line_shapes import VersionLine
from widget_catalog.transfer.ndjson import ImportedBundle, Rules, decode_line
from widget_contract.manifest_details import Author, Translation
from widget_contract.manifests import Declared
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import SemVer
from widget_contract.wire import Size, VersionEntry

NOW = datetime(2026, 2, 10, tzinfo=UTC)
HASHES = {"js": "a" * 64, "css": "b" * 64}
ATTACHED = (
    AttachedFile("README.md", 11, "c" * 64),
    AttachedFile("screenshots/b.png", 13, "d" * 64, 800, 500),
    AttachedFile("screenshots/b.thumb.webp", 3, "e" * 64, 640, 400),
    AttachedFile("screenshots/a.jpg", 17, "f" * 64, 1, 4096),
)
# Of fields whose texts are not free.
VALID = {
    "keywords": ("clock", "time-zone"),
    "homepage": "https://clock.example",
    "repository": "https://git.example/clock",
    "author": Author("Ann", "https://ann.example"),
    "translations": {"de": Translation("Uhr", "Die Uhrzeit."), "pt-BR": Translation("Relógio")},
}
MAKE: dict[Any, Callable[[str], Any]] = {
    str: lambda text: text,
    int: len,
    Size: lambda text: Size(len(text), 2),
    tuple[str, ...]: lambda text: (text, f"other {text}"),
}


def a_value(name: str, kind: Any, text: str) -> Any:
    """A value of the field's type that is no default; it depends on the name."""
    if name in VALID:
        return VALID[name]
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    return MAKE[kinds[0]](f"{name}{text}")


def a_version(text: str, **more: Any) -> Version:
    """A version that has all declared fields."""
    kinds = get_type_hints(Declared)
    fields = {it: a_value(it, kinds[it], text) for it in Declared.__struct_fields__}
    assert all(fields[it.name] != it.default for it in msgspec.structs.fields(Declared))
    return Version(
        version=SemVer.parse("1.0.0+build"),
        bundle_url=None,
        bundle_size=5,
        sha256_hash=HASHES["js"],
        published_at=NOW,
        is_yanked=True,
        yanked_reason="Bad.",
        deprecation_message=f"Old{text}",
        style=Style(7, HASHES["css"]),
        manifest='{"x-own": 1}',
        readme_words="clock time",
        **fields,
        **more,
    )


# The texts of a line in plain ASCII are not checked one by one.
@pytest.mark.parametrize("text", ["", " für alle"], ids=["plain", "with other letters"])
def test_an_imported_version_is_the_exported_one(text: str) -> None:
    widget = a_widget(text)
    [version] = widget.versions
    defaults = {it.name: it.default for it in msgspec.structs.fields(Version)}
    assert all(getattr(version, it) != defaults[it] for it in defaults if it != "bundle_url")

    line = encode_line(widget, 9, lambda _, it: name_files(it, lambda file: file.sha256_hash))
    sizes = {it.sha256_hash: it.size_bytes for it in version.stored_files}
    words = {"md": version.readme_words}

    def imported(name: str, kind: Kind, _makes_thumbnail: bool) -> ImportedBundle:
        return ImportedBundle(name, sizes[name], words=words.get(kind, ""))

    decoded = decode_line(line, imported, Rules(NOW))

    assert decoded == (widget, 9, 0)


def test_a_widget_read_from_a_draft_is_the_drafted_one() -> None:
    widget = a_widget("")

    assert draft(widget, 9, b"").to_widget() == widget


def a_widget(text: str) -> Widget:
    version = a_version(text, revocation=Revocation("Malware.", NOW), attached=ATTACHED)
    return Widget(
        scope=Scope("acme"),
        name=WidgetName("clock"),
        display_name=f"Clock{text}",
        description=f"Time{text}",
        icon="mdi:clock",
        is_official=True,
        is_listed=False,
        created_at=NOW,
        versions=(version,),
    )


def test_a_version_read_from_the_database_is_the_stored_one() -> None:
    version = a_version("")

    row = version_row("acme", "clock", version)

    assert version_from("acme", "clock", VersionColumns(*row)) == version


def test_a_mirror_can_take_over_every_field_of_an_entry() -> None:
    entry = {it.encode_name for it in msgspec.structs.fields(VersionEntry)}

    assert entry - {it.encode_name for it in msgspec.structs.fields(VersionLine)} == {
        "scope",
        "name",
    }
