"""`widget search`, `info`, `versions`: public data."""

from collections.abc import Mapping
from typing import Annotated

import typer

from widget_contract.semver import InvalidVersion, SemVer

from ..addresses import WidgetKey, parse_key
from ..catalog import get_detail_object
from ..console import counted, out, plain, plain_lines, say, show_table, shows_json, sized, warn
from ..errors import ExitCode, ToolError, wrong_usage
from ..options import WidgetArgument, in_insecure_session, in_session
from ..responses import Detail, FoundWidget, RevocationList, SearchPage, VersionEntry, shaped
from ..searching import Query, find_by_name, find_page, find_similar
from ..session import Session

_FEW = 8
_REVOCATIONS = "/api/v1/widgets/revocations"


@in_session
def search(
    session: Session,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words to search for, or a widget's name."),
    ] = None,
    scope: Annotated[
        str | None, typer.Option(metavar="SCOPE", help="Search only in this scope.")
    ] = None,
    official: Annotated[
        bool | None,
        typer.Option("--official/--not-official", help="Only official widgets, or only others."),
    ] = None,
    sdk: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Show the newest version compatible with this SDK."),
    ] = None,
    page: Annotated[int, typer.Option(metavar="N", min=1, help="Page number, from 1.")] = 1,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Results per page, up to 100.")
    ] = 20,
) -> None:
    """Search for widgets by words or by name (scope/name)."""
    if sdk is not None:
        _check_sdk(sdk)
    query = Query(" ".join(words or []).strip(), scope and scope.removeprefix("@"), official, sdk)
    found = find_page(session, query, page, limit)
    result = shaped(found, SearchPage, session.url)
    is_first = bool(query.text) and page == 1
    exact = find_by_name(session, query, found) if is_first else []
    is_empty = is_first and not exact and not result.total
    similar = find_similar(session, query) if is_empty else []
    named = shaped(exact, tuple[FoundWidget, ...], session.url)
    if shows_json({**found, "exact": exact, "suggestions": similar}):
        return
    shown = {f"{it.scope}/{it.name}": it for it in (*named, *result.widgets)}
    _show_found(shown, sdk)
    if result.total > len(result.widgets):
        more = f" More: --page {page + 1}" if page * result.limit < result.total else ""
        number = len(result.widgets)
        say.print(f"[dim]{number} of {counted(result.total, 'widget')}.{more}[/]")
    elif not result.total and not named:
        say.print("No widgets found.")
    if similar:
        say.print(f"Did you mean {plain(' or '.join(similar))}?")


def _show_found(widgets: dict[str, FoundWidget], sdk: str | None) -> None:
    rows = []
    for key, widget in widgets.items():
        version = widget.latest_compatible_version if sdk else widget.latest_version
        number = version.version if version else "-"
        rows.append((key, number, widget.download_count, widget.display_name))
    show_table(("widget", f"for SDK {sdk}" if sdk else "version", "installs", "name"), rows)


@in_insecure_session
def info(session: Session, widget: WidgetArgument) -> None:
    """Show the details of a widget."""
    key = parse_key(widget)
    found = get_detail_object(session, key)
    detail = shaped(found, Detail, session.url)
    if shows_json(found):
        return
    head, latest = detail.widget, _find_latest(detail)
    marks = ["official"] if head.is_official else []
    marks += [] if detail.listed else ["unlisted"]
    shown_marks = f" ({', '.join(marks)})" if marks else ""
    out.print(f"[bold]{plain(key)}[/]  {plain(head.display_name)}{shown_marks}")
    if head.description:
        out.print(plain(head.description))
    _line("installs", f"{head.download_count:,}")
    _line("versions", _numbers(detail))
    if latest is None:
        return
    _line("latest", f"{latest.version}, published {_day(latest)}")
    _line("SDK", latest.sdk_version)
    _line("permissions", ", ".join(latest.permissions) or "none")
    _line("license", latest.license or "none given")
    _line("size", sized(latest.bundle_size))
    _line("sha256", latest.sha256_hash)
    _line("address", latest.bundle_url)
    if latest.deprecation_message:
        warn(f"{latest.version} is deprecated: {latest.deprecation_message}")
    if latest.release_notes:
        out.print(f"\n[bold]What's new in {plain(latest.version)}[/]")
        for line in plain_lines(latest.release_notes):
            out.print(f"  {line}" if line else "")


@in_insecure_session
def versions(session: Session, widget: WidgetArgument) -> None:
    """List the versions of a widget, newest first."""
    key = parse_key(widget)
    found = get_detail_object(session, key)
    detail = shaped(found, Detail, session.url)
    revoked = _find_revoked(session, key) if any(it.yanked for it in detail.versions) else {}
    document = {"versions": found["versions"], "latestVersion": found.get("latestVersion")}
    if shows_json(document | {"revoked": revoked}):
        return
    rows = [
        (
            version.version,
            _day(version),
            version.sdk_version,
            sized(version.bundle_size),
            _state(version, detail, revoked),
        )
        for version in detail.versions
    ]
    show_table(("version", "published", "SDK", "size", "state"), rows)
    if not rows:
        say.print(f"{plain(key)} has no versions yet.")


def _check_sdk(version: str) -> None:
    try:
        SemVer.parse(version)
    except InvalidVersion as error:
        raise wrong_usage(str(error), "Pass the SDK version that you use: --sdk 2.1.0") from None


def _find_latest(detail: Detail) -> VersionEntry | None:
    return next((it for it in detail.versions if it.version == detail.latest_version), None)


def _numbers(detail: Detail) -> str:
    shown = [it.version for it in detail.versions[:_FEW]]
    return ", ".join([*shown, "…"] if len(detail.versions) > _FEW else shown) or "none"


def _day(entry: VersionEntry) -> str:
    return entry.published_at[:10]


def _find_revoked(session: Session, key: WidgetKey) -> dict[str, str]:
    """Revoked versions with the reasons: the detail shows them as yanked."""
    try:
        found = session.ask_openly(_REVOCATIONS)
    except ToolError as error:
        if error.exit_code is ExitCode.NOT_FOUND:  # A catalog of the first release.
            return {}
        raise
    listed = shaped(found, RevocationList, session.url).revocations
    return {it.version: it.reason for it in listed if it.id == str(key)}


def _state(entry: VersionEntry, detail: Detail, revoked: Mapping[str, str]) -> str:
    if entry.version in revoked:
        return f"revoked by the operator: {revoked[entry.version]}"
    if entry.yanked:
        return f"yanked: {entry.yanked_reason}" if entry.yanked_reason else "yanked"
    states = ["latest"] if entry.version == detail.latest_version else []
    if entry.deprecation_message:
        states.append(f"deprecated: {entry.deprecation_message}")
    return ", ".join(states)


def _line(label: str, value: object) -> None:
    out.print(f"  [dim]{label:<12}[/] {plain(value)}")


def register(app: typer.Typer) -> None:
    for command in (search, info, versions):
        app.command(rich_help_panel="Search")(command)
