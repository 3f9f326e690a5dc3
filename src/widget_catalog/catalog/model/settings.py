"""The settings of the catalog."""

import re
from dataclasses import dataclass

from widget_contract.semver import SemVer

from ...core.languages.language import parse_languages
from ...core.setting_rules import between, check_url, parsed_by
from ...core.settings import FeatureSettings, setting

_ORIGIN = re.compile(r"https?://(?:\*\.)?[a-z0-9.-]+(?::[0-9]{1,5})?\Z")


def check_origins(value: str) -> str | None:
    """Sites in the form of a Content-Security-Policy."""
    if value == "*" or all(_ORIGIN.match(it) for it in value.split()):
        return None
    return "must be origins such as https://blog.example, separated by spaces, or *."


def check_frame_url(value: str) -> str | None:
    """It is a part of a Content-Security-Policy, where these separate directives and policies."""
    if set(value) & set(";,"):
        return "must not contain ; or , because a Content-Security-Policy names it."
    return check_url(value)


@dataclass(frozen=True, kw_only=True)
class CatalogSettings(FeatureSettings):
    dashboard: bool = setting(
        False,
        "Enable `/dashboard`, where visitors arrange and try widgets; its state stays in "
        "their browsers. Enabled by `serve --demo`.",
    )
    languages: str = setting(
        "en de ja",
        "The languages of public pages, separated by spaces: some of `en`, `de` and `ja`. Visitors "
        "get the one that their browser prefers, or choose one in the footer; others get the "
        "first. See [languages](administering.md#languages).",
        rule=parsed_by(parse_languages),
    )
    embed_origins: str = setting(
        "",
        "Sites that may show the live preview of a widget in a frame (`/embed/`), such as "
        "`https://blog.example https://*.example.org`; `*`: all. Empty: none. See "
        "[embedding](integrating.md#embed-a-live-preview).",
        rule=check_origins,
    )
    frame_origins: str = setting(
        "",
        "The only sites that may embed [the sandbox's frame](sandbox.md#the-frame), besides this "
        "one and those of `embed_origins`. Empty: any site.",
        rule=check_origins,
    )
    frame_url: str = setting(
        "",
        "The address of [the sandbox's frame](sandbox.md#the-frame) for the previews on this "
        "catalog's own pages, on another site that leads here, such as "
        "`https://widgets.example.net/frame/v1`. Empty: `/frame/v1` of this one. On another site, "
        "widgets have a process of their own in every browser.",
        rule=check_frame_url,
    )
    max_document_bytes: int = setting(
        2097152,
        "Maximum size of a widget's detail, with all versions and their release notes, "
        "checked when a version is published; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    min_cli_version: str = setting(
        "0.0.0",
        "The oldest release of the authors' tool that may publish; older ones stop and say "
        "so. See [below](#notes-on-some-of-them).",
        rule=parsed_by(SemVer.parse),
    )
    compress_bundles: bool = setting(
        True,
        "Store modules and style sheets compressed as well, and send them so to clients that "
        "accept it. See [compressed bundles](operating.md#compressed-bundles).",
    )
    cache_mb: int = setting(
        0,
        "Memory for cached responses per worker, in MB; `0`: 80, or more for a catalog that fits "
        "as a whole. See [below](#notes-on-some-of-them).",
        rule=between(0, 1 << 20),
    )
    max_event_streams: int = setting(
        1000,
        "Open event streams per worker. Beyond that, or with 100 of one client address, clients "
        "get `503`.",
        rule=between(0, 1_000_000),
    )
    max_lag_s: int = setting(
        60,
        "Seconds that changes may wait to be applied before `/healthz/ready` returns `503`, unless "
        "[all nodes are behind](scaling.md#when-all-nodes-are-behind).",
        rule=between(1, 86_400),
    )
