"""Requests shared by several commands: catalog metadata, a widget, and the scopes to publish in."""

from widget_contract.addresses import CLI_VERSION, SCOPES, detail_path, style_address
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.wire import CliVersion, PublishScope

from .addresses import WidgetKey
from .answers import not_a_catalog, refusal, shaped
from .errors import ToolError
from .exits import ExitCode
from .release import VERSION
from .session import Session
from .shapes import Detail, Settings, VersionEntry
from .transport import FILE_BYTES, SMALL_BYTES


def check_cli_version(session: Session) -> SemVer | None:
    """Stop if this tool is too old for the catalog. Gives a newer release, if there is one."""
    found = shaped(_about_itself(session, CLI_VERSION), CliVersion, session.url)
    try:
        wanted, latest = SemVer.parse(found.min_supported), SemVer.parse(found.latest)
    except InvalidVersion:
        raise not_a_catalog(session.url) from None
    own = SemVer.parse(VERSION)
    if own < wanted:
        raise ToolError(
            f"This is widget {VERSION}, and {session.url} wants at least {wanted}.",
            f"Install a newer release of widget-cli (the latest is {latest}), then try again.",
            ExitCode.TOO_OLD,
        )
    return latest if own < latest else None


def get_settings(session: Session) -> Settings:
    return shaped(_about_itself(session, "/api/settings"), Settings, session.url)


def _about_itself(session: Session, path: str) -> dict[str, object]:
    return session.ask_openly(path, max_bytes=SMALL_BYTES)


def find_detail(session: Session, key: WidgetKey) -> Detail | None:
    """The widget as everybody sees it; an unlisted one if it is one's own."""
    found = find_detail_object(session, key)
    return None if found is None else shaped(found, Detail, session.url)


def find_detail_object(session: Session, key: WidgetKey) -> dict[str, object] | None:
    """The same as it came, for a script."""
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
        # To a stranger all of a scope is forbidden, whether it exists or not.
        if error.exit_code in (ExitCode.NOT_FOUND, ExitCode.NOT_ALLOWED, ExitCode.NOT_SIGNED_IN):
            return None
        raise


def get_detail_object(session: Session, key: WidgetKey) -> dict[str, object]:
    found = find_detail_object(session, key)
    if found is None:
        raise ToolError(
            f"There is no widget {key} at {session.url}.",
            f"Look for it: widget search {key.name}",
            ExitCode.NOT_FOUND,
        )
    return found


def find_style(session: Session, entry: VersionEntry) -> bytes | None:
    """The style sheet of a published version. No entry names it: it lies beside the bundle."""
    address = style_address(entry.bundle_url)
    reply = session.transport.send("GET", address, is_repeatable=True, max_bytes=FILE_BYTES)
    if reply.status == 404:
        return None
    if reply.status >= 300:
        raise refusal(reply, session.url)
    return reply.body


def require_scopes(session: Session, wanted: list[str]) -> None:
    """Stop if one of these is not a scope that this account may publish to."""
    if not wanted:
        return
    names = [it.name for it in list_scopes(session)]
    foreign = [it for it in wanted if it not in names]
    if foreign:
        raise ToolError(
            f"You may not publish in the scope {foreign[0]}.",
            f"Choose among yours ({', '.join(names)}), or ask an owner of {foreign[0]}.",
            ExitCode.NOT_ALLOWED,
        )


def list_scopes(session: Session) -> list[PublishScope]:
    found = session.get(SCOPES).get("scopes")
    return shaped(found, list[PublishScope], session.url)
