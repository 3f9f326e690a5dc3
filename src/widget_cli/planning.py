"""Determines the scope, and compares with the published versions."""

from widget_contract.capabilities import requested
from widget_contract.errors import InvalidName
from widget_contract.manifests import Manifest
from widget_contract.names import Scope
from widget_contract.wire import PublishScope

from .addresses import WidgetKey
from .catalog import find_detail, find_requested, find_style, find_token_limits, list_scopes
from .console import warn
from .differences import differing_fields, find_version, is_step_back
from .errors import ToolError, wrong_usage
from .exits import ExitCode
from .plan import Plan
from .session import Session
from .shapes import TokenLimits, VersionEntry
from .widget_folder import MANIFEST, LocalWidget

# Fields that dashboards depend on: a changed value is an error.
_SERIOUS = ("sdkVersion", "permissions")


def choose_scope(session: Session, given: str | None, manifest: Manifest) -> Scope:
    """The scope of --scope, or of the manifest, or the only one, or the personal one.

    A scope without permission is rejected before anything published there is shown.
    """
    try:
        named = manifest.scope if given is None else Scope.parse(given.removeprefix("@"))
    except InvalidName as error:
        raise wrong_usage(error.message, "Choose another with --scope.") from None
    places = list_scopes(session)
    limits = find_token_limits(session) if session.is_machine else None
    if limits is not None and limits.widgets:
        places = _require_admitted(places, limits, named, str(manifest.name))
    names = ", ".join(it.name for it in places)
    who = "The token in WIDGET_TOKEN" if session.is_machine else "You"
    if not places:
        raise ToolError(
            f"{who} may not publish to any scope.",
            "Use a token that may publish, or ask the catalog's operator.",
            ExitCode.NOT_ALLOWED,
        )
    if named is not None:
        if all(it.name != named for it in places):
            raise ToolError(
                f"{who} may not publish to the scope {named}.",
                f"Choose one of your scopes with --scope ({names}), or ask an owner of {named}.",
                ExitCode.NOT_ALLOWED,
            )
        return named
    personal = [it for it in places if it.type == "personal"]
    chosen = places if len(places) == 1 else personal
    if not chosen:
        raise wrong_usage(
            f"No scope given. You may publish to {names}.",
            "Choose one with --scope, or set scope in widget.json.",
        )
    return Scope.parse(chosen[0].name)


def _require_admitted(
    places: list[PublishScope], limits: TokenLimits, named: Scope | None, name: str
) -> list[PublishScope]:
    """The scopes in which a token restricted to some widgets may publish this one."""
    admitted = [
        it for it in places if it.name in limits.scopes or f"{it.name}/{name}" in limits.widgets
    ]
    if any(named in (None, it.name) for it in admitted):
        return admitted
    wanted = f"{named}/{name}" if named is not None else f"a widget named {name}"
    allowed = ", ".join([*limits.scopes, *limits.widgets])
    raise ToolError(
        f"The token in WIDGET_TOKEN may not publish {wanted}. It may only publish {allowed}.",
        f"Correct name or scope in {MANIFEST}, or use another token.",
        ExitCode.NOT_ALLOWED,
    )


def make_plan(session: Session, key: WidgetKey, local: LocalWidget) -> Plan:
    """Compare with the published versions. The same number with other content is rejected."""
    detail = find_detail(session, key)
    wanted = local.manifest.version
    existing = find_version(detail.versions, wanted) if detail else None
    if existing is not None and not _is_same_content(session, local, existing):
        raise ToolError(
            f"{key} {existing.version} is already published, with different content.",
            "A published version never changes: publish with --bump patch.",
            ExitCode.CONFLICT,
        )
    fields = []
    if existing is not None:
        fields = differing_fields(local, existing, find_requested(session, key, existing))
    if existing is not None and (serious := [it for it in fields if it in _SERIOUS]):
        raise ToolError(
            f"{key} {existing.version} is already published, "
            f"with different {' and '.join(serious)}.",
            "A published version never changes: publish with --bump patch.",
            ExitCode.CONFLICT,
        )
    if fields:
        warn(
            f"{MANIFEST} differs from the published version ({', '.join(fields)}); "
            "increase the version."
        )
    last = detail.newest if detail else None
    if existing is None and last is not None and is_step_back(wanted, last):
        warn(f"{wanted} is lower than {last.version}, but will be the latest version.")
    warnings = [*local.warnings, *_repeated_notes(local, last if existing is None else None)]
    for warning in warnings:
        warn(warning)
    if last is None:
        return Plan(session.url, key, local, last, existing, None, tuple(warnings))
    last_style = find_style(session, last) if existing is None else None
    before = find_requested(session, key, last) or requested(last.permissions, None)
    return Plan(session.url, key, local, last, existing, last_style, tuple(warnings), before)


def _repeated_notes(local: LocalWidget, last: VersionEntry | None) -> list[str]:
    """Release notes that were left in the manifest since the last version."""
    notes = (local.manifest.release_notes or "").strip()
    if last is None or not notes or notes != (last.release_notes or "").strip():
        return []
    advice = f"Update releaseNotes in {MANIFEST}, or use --notes FILE."
    return [f"The release notes are those of {last.version}. {advice}"]


def _is_same_content(session: Session, local: LocalWidget, existing: VersionEntry) -> bool:
    """Whether the published version has the same content."""
    if existing.sha256_hash.lower() != local.bundle.sha256_hash:
        return False
    return find_style(session, existing) == (local.style.content if local.style else None)
