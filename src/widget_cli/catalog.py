"""Requests that several commands share: settings, widgets, scopes."""

import msgspec

from widget_contract.capabilities import Permission, may_be_narrowed, requested
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.version_files import CLI_VERSION, SCOPES, detail_path, style_address
from widget_contract.wire import CliVersion, PublishScope

from . import VERSION
from .addresses import WidgetKey, path_part
from .errors import ExitCode, ToolError, not_allowed
from .responses import Account, Detail, Settings, VersionEntry, not_a_catalog, refusal, shaped
from .session import Session
from .transport import FILE_BYTES, SMALL_BYTES


def check_cli_version(session: Session) -> SemVer | None:
    """Raise if this tool is too old for the catalog. Returns a newer release, if there is one."""
    found = shaped(_about_itself(session, CLI_VERSION), CliVersion, session.url)
    try:
        wanted, latest = SemVer.parse(found.min_supported), SemVer.parse(found.latest)
    except InvalidVersion:
        raise not_a_catalog(session.url) from None
    own = SemVer.parse(VERSION)
    if own < wanted:
        raise ToolError(
            f"This is widget {VERSION}, but {session.url} requires at least {wanted}.",
            f"Install a newer release of widget-cli (the latest is {latest}), then try again.",
            ExitCode.TOO_OLD,
        )
    return latest if own < latest else None


def get_settings(session: Session) -> Settings:
    return shaped(_about_itself(session, "/api/settings"), Settings, session.url)


def _about_itself(session: Session, path: str) -> dict[str, object]:
    return session.ask_openly(path, max_bytes=SMALL_BYTES)


def find_detail(session: Session, key: WidgetKey) -> Detail | None:
    """The widget's public detail; for its owners also if it is unlisted."""
    found = find_detail_object(session, key)
    return None if found is None else shaped(found, Detail, session.url)


def find_detail_object(session: Session, key: WidgetKey) -> dict[str, object] | None:
    """The detail of a widget as the unmodified JSON object."""
    try:
        return session.ask_openly(detail_path(key.scope, key.name))
    except ToolError as error:
        if error.exit_code != ExitCode.NOT_FOUND:
            raise
    if not session.is_signed_in:
        return None
    try:
        return session.get(f"/api/widgets/{key}")
    except ToolError as error:
        # Other accounts get 403 for every widget of a scope, whether it exists or not.
        if error.exit_code in (ExitCode.NOT_FOUND, ExitCode.NOT_ALLOWED, ExitCode.NOT_SIGNED_IN):
            return None
        raise


def get_detail_object(session: Session, key: WidgetKey) -> dict[str, object]:
    found = find_detail_object(session, key)
    if found is None:
        raise ToolError(
            f"There is no widget {key} at {session.url}.",
            f"Search for it: widget search {key.name}",
            ExitCode.NOT_FOUND,
        )
    return found


def find_style(session: Session, entry: VersionEntry) -> bytes | None:
    """The style sheet of a published version. Its URL is derived from the bundle's."""
    address = style_address(entry.bundle_url)
    reply = session.transport.send("GET", address, is_repeatable=True, max_bytes=FILE_BYTES)
    if reply.status == 404:
        return None
    if reply.status >= 300:
        raise refusal(reply, session.url)
    return reply.body


def find_requested(
    session: Session, key: WidgetKey, entry: VersionEntry
) -> tuple[Permission, ...] | None:
    """The permissions of a published version, with its capabilities in full. None if they are not
    known: of an unlisted widget, only the names are."""
    if not may_be_narrowed(entry.permissions):
        return requested(entry.permissions, None)
    manifest = find_manifest(session, key, entry)
    return None if manifest is None else requested(entry.permissions, msgspec.json.encode(manifest))


def find_manifest(
    session: Session, key: WidgetKey, entry: VersionEntry
) -> dict[str, object] | None:
    """The manifest of a published version, empty if it was imported without one. None if it is not
    known, because the widget is unlisted."""
    try:
        found = session.ask_openly(f"{detail_path(key.scope, key.name)}/{path_part(entry.version)}")
    except ToolError as error:
        if error.exit_code != ExitCode.NOT_FOUND:
            raise
        return None
    manifest = found.get("manifest")
    return manifest if isinstance(manifest, dict) else {}


def require_scopes(session: Session, wanted: list[str]) -> None:
    """Raise if the account may not publish to one of these scopes."""
    if not wanted:
        return
    names = [it.name for it in list_scopes(session)]
    foreign = [it for it in wanted if it not in names]
    if foreign:
        raise not_allowed(
            f"You may not publish to the scope {foreign[0]}.",
            f"Choose one of your scopes ({', '.join(names)}), or ask an owner of {foreign[0]}.",
        )


def get_account(session: Session) -> Account:
    """The signed-in account, and the limits of an access token."""
    return shaped(session.get("/api/auth/session"), Account, session.url)


def list_scopes(session: Session) -> list[PublishScope]:
    found = session.get(SCOPES).get("scopes")
    return shaped(found, list[PublishScope], session.url)
