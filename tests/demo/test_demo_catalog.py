"""The demo catalog as data: every line is valid, every bundle exists, nothing is left over, and
every feature of the API has an example.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from PIL import Image

from widget_contract.manifests import parse_manifest

Widget = dict[str, Any]

WIDGET_KEYS = [
    *("scope", "name", "displayName", "description", "icon", "isOfficial", "listed"),
    *("downloadCount", "createdAt", "versions"),
]
VERSION_KEYS = [
    *("version", "bundleFile", "publishedAt", "yanked", "yankedReason", "deprecationMessage"),
    *("releaseNotes", "displayName", "description", "icon", "minSize", "maxSize"),
    *("sdkVersion", "configVersion", "permissions", "license"),
]
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9a-z]+(\.[0-9a-z]+)*)?")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ICON = re.compile(r"(mdi|lucide):[a-z0-9]+(-[a-z0-9]+)*")
RANGES = {"^1.0.0", ">=1.2 <3", "1.x || 2.x", "~2.1.0", "^2.0.0-beta.1"}
PERMISSIONS = {
    *("network", "storage", "geolocation"),
    *("read:light", "control:light", "read:lock", "control:lock"),
}
# Forbidden in a bundle: writing markup, running text as code, using the network directly.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    r"|(?<![\w.])fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|localStorage"
    r"|^import\b|\bimport\(|https?://(?!www\.w3\.org/2000/svg\")",
    re.MULTILINE,
)


def versions_of(widgets: list[Widget]) -> list[Widget]:
    return [version for widget in widgets for version in widget["versions"]]


def newest_of(widget: Widget) -> Widget:
    newest: Widget = max(widget["versions"], key=lambda version: version["publishedAt"])
    return newest


def number_of(version: Widget) -> tuple[int, ...]:
    return tuple(int(part) for part in version["version"].split("-")[0].split("."))


def test_every_line_has_the_keys_of_the_import_format_in_their_order(
    widgets: list[Widget],
) -> None:
    assert len(widgets) >= 14
    for widget in widgets:
        assert list(widget) == WIDGET_KEYS
        for version in widget["versions"]:
            further = [it for it in ("manifest", "files", "keywords") if it in version]
            assert list(version) == VERSION_KEYS + further


def test_manifests_agree_with_their_lines_and_have_settings_to_try(widgets: list[Widget]) -> None:
    described = [it for it in versions_of(widgets) if "manifest" in it]
    assert len(described) >= 3
    for version in described:
        declared = parse_manifest(version["manifest"])
        assert declared.min_size.w == version["minSize"]["w"]
        assert declared.permissions == tuple(version["permissions"])
        manifest = json.loads(version["manifest"])
        same = ("version", "sdkVersion", "minSize", "maxSize", "license", "configVersion")
        assert {key: manifest.get(key) for key in same} == {key: version[key] for key in same}
        schema = manifest["configSchema"]
        assert schema["examples"]
        for example in schema["examples"]:
            assert set(example) <= set(schema["properties"])


def test_what_is_offered_has_a_schema_of_the_settings_that_its_bundle_reads(
    widgets: list[Widget], demo_folder: Path
) -> None:
    for widget in widgets:
        if not (offered := [it for it in widget["versions"] if not it["yanked"]]):
            continue
        newest = max(offered, key=lambda it: it["publishedAt"])
        bundle = (demo_folder / newest["bundleFile"]).read_text(encoding="utf-8")
        manifest = json.loads(newest.get("manifest", "{}"))
        assert ("// config:" in bundle) == ("configSchema" in manifest), newest["bundleFile"]
        for setting in manifest.get("configSchema", {}).get("properties", ()):
            assert re.search(rf"\b{setting}\b", bundle), (newest["bundleFile"], setting)


def test_every_widget_with_a_version_has_small_screenshots_in_light_and_dark(
    widgets: list[Widget], demo_folder: Path
) -> None:
    total, named = 0, set()
    for widget in widgets:
        if offered := [it for it in widget["versions"] if not it["yanked"]]:
            latest = max(offered, key=lambda it: it["publishedAt"])
            paths = [it["path"] for it in latest["files"]]
            # Making the thumbnails took most of the first start's time.
            assert paths == [
                f"screenshots/{it}.webp" for it in ("light", "light.thumb", "dark", "dark.thumb")
            ]
            for listed in latest["files"]:
                file = demo_folder / listed["file"]
                with Image.open(file) as picture:
                    assert picture.format == "WEBP"
                    assert len(picture.convert("L").getcolors() or ()) > 20, file
                total += file.stat().st_size
                named.add(file)
    assert named == {it for it in (demo_folder / "screenshots").rglob("*") if it.is_file()}
    assert total < 900_000


def test_lines_are_compact_json_and_end_with_a_newline(demo_folder: Path) -> None:
    text = (demo_folder / "catalog.ndjson").read_text(encoding="utf-8")

    rows = [json.loads(line) for line in text.splitlines()]

    compact = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    assert text == "\n".join(compact) + "\n"


def test_names_and_texts_are_well_formed(widgets: list[Widget]) -> None:
    names = [(widget["scope"], widget["name"]) for widget in widgets]
    assert len(set(names)) == len(names)
    for widget in widgets:
        assert NAME.fullmatch(widget["scope"])
        assert NAME.fullmatch(widget["name"])
        assert widget["displayName"].strip()
        assert widget["isOfficial"] in (True, False, None)
        assert isinstance(widget["listed"], bool)
        assert isinstance(widget["downloadCount"], int)
        assert widget["icon"] is None or ICON.fullmatch(widget["icon"])


def test_version_fields_are_well_formed(widgets: list[Widget]) -> None:
    for version in versions_of(widgets):
        assert SEMVER.fullmatch(version["version"])
        assert version["yanked"] is (version["yankedReason"] is not None)
        assert version["icon"] is None or ICON.fullmatch(version["icon"])
        for side in ("w", "h"):
            assert 1 <= version["minSize"][side] <= version["maxSize"][side]
        assert list(version["minSize"]) == list(version["maxSize"]) == ["w", "h"]
        assert version["configVersion"] is None or version["configVersion"] >= 1
        assert set(version["permissions"]) <= PERMISSIONS
        assert version["license"] in ("MIT", "Apache-2.0", None)


def test_times_are_exact_and_no_version_is_older_than_its_widget(widgets: list[Widget]) -> None:
    for widget in widgets:
        published = [version["publishedAt"] for version in widget["versions"]]
        for time in [widget["createdAt"], *published]:
            assert TIMESTAMP.fullmatch(time)
            assert "2025-03" <= time < "2026-11"
        assert len(set(published)) == len(published)
        assert all(widget["createdAt"] <= time for time in published)


def test_every_bundle_file_exists_and_every_bundle_is_referenced(
    widgets: list[Widget], demo_folder: Path
) -> None:
    referenced = []
    for widget in widgets:
        for version in widget["versions"]:
            place = f"bundles/{widget['scope']}/{widget['name']}/{version['version']}.js"
            assert version["bundleFile"] == place
            referenced.append(place)

    present = [
        path.relative_to(demo_folder).as_posix()
        for path in (demo_folder / "bundles").rglob("*")
        if path.is_file()
    ]

    assert sorted(referenced) == sorted(present)


def test_bundles_are_small_and_no_two_are_alike(demo_folder: Path) -> None:
    contents = [path.read_bytes() for path in (demo_folder / "bundles").rglob("*.js")]

    assert len(set(contents)) == len(contents)
    assert all(1024 <= len(content) <= 6 * 1024 for content in contents)


def test_bundles_write_no_markup_and_reach_no_network(demo_folder: Path) -> None:
    for path in (demo_folder / "bundles").rglob("*.js"):
        found = FORBIDDEN.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.name} of {path.parent.name} has {found and found[0]}"


def test_a_widget_has_the_texts_of_its_newest_version(widgets: list[Widget]) -> None:
    for widget in widgets:
        if widget["versions"]:
            newest = newest_of(widget)
            for field in ("displayName", "description", "icon"):
                assert newest[field] in (widget[field], None)


def test_widgets_have_two_to_four_versions_but_for_one_that_has_none(
    widgets: list[Widget],
) -> None:
    counts = Counter(len(widget["versions"]) for widget in widgets)
    assert counts[0] == 1
    assert set(counts) == {0, 2, 3, 4}


def test_listing_and_official_marks_come_in_every_kind(widgets: list[Widget]) -> None:
    assert [widget["listed"] for widget in widgets].count(False) == 1
    assert {widget["isOfficial"] for widget in widgets} == {True, False, None}
    assert len({widget["scope"] for widget in widgets}) >= 4


def test_a_description_and_an_icon_are_missing_once(widgets: list[Widget]) -> None:
    assert [widget["description"] for widget in widgets].count(None) == 1
    assert [widget["icon"] for widget in widgets].count(None) == 1


def test_download_counts_vary_and_tie(widgets: list[Widget]) -> None:
    ties = [count for count in Counter(w["downloadCount"] for w in widgets).values() if count > 1]
    assert len(ties) >= 2
    assert len({widget["downloadCount"] for widget in widgets}) >= 10


def test_some_texts_are_not_ascii(widgets: list[Widget]) -> None:
    names = {widget["displayName"] for widget in widgets}
    assert {"Météo", "時計"} <= names
    assert any(not (widget["description"] or "").isascii() for widget in widgets)


def test_a_newest_version_is_yanked_so_that_the_latest_is_an_older_one(
    widgets: list[Widget],
) -> None:
    yanked = [w for w in widgets if w["versions"] and newest_of(w)["yanked"]]
    assert yanked
    for widget in yanked:
        assert any(not version["yanked"] for version in widget["versions"])
        assert len(newest_of(widget)["yankedReason"]) > 20


def test_a_version_is_deprecated_with_a_message(widgets: list[Widget]) -> None:
    assert any(version["deprecationMessage"] for version in versions_of(widgets))


def test_a_back_port_is_newer_than_a_higher_number(widgets: list[Widget]) -> None:
    assert any(
        number_of(newest_of(widget)) < max(map(number_of, widget["versions"]))
        and not newest_of(widget)["yanked"]
        for widget in widgets
        if widget["versions"]
    )


def test_there_is_a_prerelease(widgets: list[Widget]) -> None:
    assert any("-" in version["version"] for version in versions_of(widgets))


def test_sdk_ranges_of_many_forms_are_used(widgets: list[Widget]) -> None:
    assert {version["sdkVersion"] for version in versions_of(widgets)} >= RANGES


def test_every_permission_and_license_is_used(widgets: list[Widget]) -> None:
    versions = versions_of(widgets)
    assert {p for v in versions for p in v["permissions"]} == PERMISSIONS
    assert {version["license"] for version in versions} == {"MIT", "Apache-2.0", None}


def test_config_versions_rise_and_are_left_out_too(widgets: list[Widget]) -> None:
    assert {None, 1, 2} <= {version["configVersion"] for version in versions_of(widgets)}


def test_release_notes_use_short_markdown_and_are_left_out_too(widgets: list[Widget]) -> None:
    notes = [version["releaseNotes"] for version in versions_of(widgets)]
    written = [note for note in notes if note is not None]
    assert None in notes
    assert max(map(len, written)) < 500
    for sign in ("- ", "## ", "**", "`"):
        assert any(sign in note for note in written)


def test_a_widget_was_renamed_and_a_version_falls_back_to_its_widget(
    widgets: list[Widget],
) -> None:
    names = [(w["displayName"], v["displayName"]) for w in widgets for v in w["versions"]]
    assert any(own is not None and own != widgets_name for widgets_name, own in names)
    assert any(own is None for _, own in names)
