"""The tool reads responses of catalogs that are older or newer than itself."""

from typing import Any

import msgspec
import pytest

from widget_cli.responses import Detail, FoundWidget, PublishTargets, SearchPage, VersionEntry
from widget_contract import wire

LEAST: dict[str, Any] = {
    "version": "1.0.0",
    "bundleUrl": "https://cdn.example/index.js",
    "bundleSize": 1,
    "sha256Hash": "ab",
    "publishedAt": "2026-01-31T09:05:00.000Z",
    "sdkVersion": "^1.0.0",
}
HEAD = {"scope": "ann", "name": "clock", "displayName": "Clock"}


def test_a_version_with_few_facts() -> None:
    entry = msgspec.convert(LEAST, VersionEntry)
    assert (entry.yanked, entry.permissions, entry.license) == (False, (), None)


def test_what_is_new_is_skipped() -> None:
    entry = {**LEAST, "signature": {"key": [1, 2]}}
    detail = {"widget": {**HEAD, "stars": 5}, "versions": [entry], "news": None}
    assert msgspec.convert(detail, Detail).versions[0].version == "1.0.0"


@pytest.mark.parametrize("missing", LEAST)
def test_what_nothing_can_stand_in_for_is_required(missing: str) -> None:
    entry = {key: value for key, value in LEAST.items() if key != missing}
    with pytest.raises(msgspec.ValidationError, match=missing):
        msgspec.convert(entry, VersionEntry)


def test_a_search_result_may_have_no_version() -> None:
    page = {"widgets": [{**HEAD, "latestVersion": None}], "total": 1, "page": 1, "limit": 20}
    (found,) = msgspec.convert(page, SearchPage).widgets
    assert found == FoundWidget(scope="ann", name="clock", display_name="Clock")


def test_an_upload_may_have_a_number_and_no_style() -> None:
    upload = msgspec.convert(
        {"uploadUrl": "/x", "versionId": 7, "cssUploadUrl": None}, PublishTargets
    )
    assert (upload.version_id, upload.css_upload_url) == (7, None)


def test_a_field_of_the_contract_is_read_without_being_written_down_here() -> None:
    assert set(VersionEntry.__struct_fields__) == set(wire.VersionEntry.__struct_fields__)
