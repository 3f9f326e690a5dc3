"""The publishing plan: its scope, and the differences from the published versions."""

import hashlib
from typing import Any, NamedTuple

import msgspec

from widget_contract.capabilities import (
    Permission,
    PermissionChanges,
    in_words,
    names_of,
    permission_changes,
    requested,
)
from widget_contract.errors import InvalidName
from widget_contract.manifest_details import DETAIL_FIELDS
from widget_contract.manifests import Declared, Manifest
from widget_contract.names import Scope
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.version_files import style_address
from widget_contract.wire import PublishScope, Size

from .addresses import WidgetKey
from .catalog import (
    find_detail,
    find_manifest,
    find_requested,
    find_style,
    get_account,
    list_scopes,
)
from .console import plain, say, sized, warn
from .errors import ExitCode, ToolError, not_allowed, wrong_usage
from .release_notes import ReleaseNotes
from .responses import UNKNOWN_SIZE, TokenLimits, VersionEntry
from .session import Session
from .settings_changes import schema_of, settings_changes
from .widget_folder import MANIFEST, LocalWidget

# Release notes always differ; the others are shown separately.
_SHOWN_APART = ("release_notes", "sdk_version", "permissions")
_LABELS = {
    "bundleSize": "size",
    "sdkVersion": "SDK",
    "displayName": "name",
    "minSize": "smallest",
    "maxSize": "largest",
    "configVersion": "settings",
    "cssSha256Hash": "style",
}
_LONGEST_VALUE = 60
# Fields that dashboards depend on: a changed value is an error.
_SERIOUS = ("sdkVersion", "permissions")


class AlreadyPublished(ToolError):
    """This version is published, with other content."""


class FieldChange(NamedTuple):
    """One field, by its JSON name."""

    field: str
    before: Any
    after: Any


def changes(local: LocalWidget, last: VersionEntry) -> list[FieldChange]:
    """Every field that differs, except permissions: see `Plan.permission_changes`."""
    manifest = local.manifest
    pairs = [
        FieldChange("sha256Hash", last.sha256_hash, local.bundle.sha256_hash),
        FieldChange("bundleSize", last.bundle_size, local.bundle.size_bytes),
        FieldChange("sdkVersion", last.sdk_version, manifest.sdk_version),
    ]
    for field in msgspec.structs.fields(Declared):
        # Entries have no details.
        if field.name not in _SHOWN_APART and field.name not in DETAIL_FIELDS:
            before, after = getattr(last, field.name), getattr(manifest, field.name)
            pairs.append(FieldChange(field.encode_name, _value(before), _value(after)))
    return [it for it in pairs if it.before != it.after]


def style_change(local: LocalWidget, last_style: bytes | None) -> FieldChange | None:
    """The change of the style sheet by its hash, if any; None means no style sheet."""
    before = None if last_style is None else hashlib.sha256(last_style).hexdigest()
    after = local.style.sha256_hash if local.style else None
    return None if before == after else FieldChange("cssSha256Hash", before, after)


def requested_by(local: LocalWidget) -> tuple[Permission, ...]:
    return requested(local.manifest.permissions, local.manifest.text)


def differing_fields(
    local: LocalWidget, published: VersionEntry, wanted: tuple[Permission, ...] | None
) -> list[str]:
    """The names of all fields that differ, including permissions. `wanted` are those of the
    published version in full, if known."""
    fields = [it.field for it in changes(local, published)]
    own = requested_by(local)
    is_same = set(names_of(own)) == set(published.permissions)
    if not is_same or (wanted is not None and set(own) != set(wanted)):
        fields.append("permissions")
    return fields


def find_version(versions: tuple[VersionEntry, ...], wanted: SemVer) -> VersionEntry | None:
    """The published version with this number; build metadata is ignored."""
    for entry in versions:
        try:
            if SemVer.parse(entry.version) == wanted:
                return entry
        except InvalidVersion:
            continue
    return None


def is_step_back(wanted: SemVer, last: VersionEntry) -> bool:
    try:
        return wanted < SemVer.parse(last.version)
    except InvalidVersion:
        return False


def _value(value: object) -> object:
    if isinstance(value, Size):
        return None if value == UNKNOWN_SIZE else f"{value.w} x {value.h}"
    return None if value == "" else value


class Plan(msgspec.Struct, frozen=True):
    """`last` is the last published version; `existing` is this version, if it is published."""

    url: str
    key: WidgetKey
    local: LocalWidget
    last: VersionEntry | None
    existing: VersionEntry | None
    last_style: bytes | None = None
    warnings: tuple[str, ...] = ()
    last_requested: tuple[Permission, ...] = ()
    """The permissions of the last version, with its capabilities in full."""
    last_with_notes: VersionEntry | None = None
    settings_changes: tuple[str, ...] = ()
    """Why saved settings may no longer fit, if `configVersion` is that of the last version."""
    notes: ReleaseNotes | None = None

    @property
    def page_url(self) -> str:
        return f"{self.url}/widgets/{self.key}"

    @property
    def is_published(self) -> bool:
        return self.existing is not None

    @property
    def permission_changes(self) -> PermissionChanges:
        return permission_changes(self.last_requested, requested_by(self.local))

    def changes(self) -> list[FieldChange]:
        """Every field that differs from the last published version, except permissions."""
        if self.last is None:
            return []
        style = style_change(self.local, self.last_style)
        return [*changes(self.local, self.last), *([style] if style else [])]


def show_plan(plan: Plan) -> None:
    """Print the plan on standard error."""
    local, manifest = plan.local, plan.local.manifest
    say.print(f"\n[bold]{plain(plan.key)} {plain(manifest.version)}[/] to {plain(plan.url)}")
    _line("name", manifest.display_name)
    _line("module", f"{local.bundle.path.name}, {sized(local.bundle.size_bytes)}")
    _line("sha256", local.bundle.sha256_hash)
    if local.style is not None:
        _line("style", f"{local.style.path.name}, {sized(local.style.size_bytes)}")
    if local.readme is not None:
        _line("readme", f"{local.readme.path.name}, {sized(local.readme.size_bytes)}")
    if local.pictures:
        _line("screenshots", ", ".join(it.path.name for it in local.pictures.values()))
    _line("SDK", manifest.sdk_version)
    _line("permissions", ", ".join(map(in_words, requested_by(local))) or "none")
    if plan.notes is not None:
        _line("release notes", f"from {plan.notes.source}: {_short(_first_line(plan.notes.text))}")
    if plan.last is None:
        say.print("\nThis is the first version.\n")
        return
    say.print(f"\nChanges since {plain(plan.last.version)}, the last version:")
    differing = plan.changes()
    for change in differing:
        if change.field != "sha256Hash":
            _line(_LABELS.get(change.field, change.field), _shown(change))
    fields = {change.field for change in differing}
    if "sha256Hash" not in fields:
        _line("module", "unchanged")
    elif "bundleSize" not in fields:
        _line("module", "changed, and as large as before")
    added, removed = plan.permission_changes
    for permission in removed:
        _line("permission", f"no longer {in_words(permission)}")
    for permission in added:
        say.print(f"  [bold yellow]new permission  {plain(in_words(permission))}[/]")
    say.print()


def plan_document(plan: Plan, status: str, response: dict[str, Any]) -> dict[str, Any]:
    """The result of `widget publish` for a script."""
    local, last = plan.local, plan.last
    if plan.existing is not None:
        address = plan.existing.bundle_url
        response = {"bundleUrl": address}
        if local.style is not None:
            response["cssUrl"] = style_address(address)
    return {
        "status": status,
        "catalog": plan.url,
        "scope": plan.key.scope,
        "name": plan.key.name,
        "version": local.manifest.version.text,
        "pageUrl": plan.page_url,
        "bundleUrl": response.get("bundleUrl"),
        "cssUrl": response.get("cssUrl"),
        "bundleSize": local.bundle.size_bytes,
        "sha256Hash": local.bundle.sha256_hash,
        "sdkVersion": local.manifest.sdk_version,
        "permissions": list(local.manifest.permissions),
        "newPermissions": names_of(plan.permission_changes.added),
        "previousVersion": last.version if last else None,
        "changes": [it._asdict() for it in plan.changes()],
        "readme": None if local.readme is None else local.readme.path.name,
        "screenshots": list(local.pictures),
        "releaseNotesFrom": None if plan.notes is None else plan.notes.source,
        "warnings": list(plan.warnings),
    }


def _line(label: str, value: object) -> None:
    say.print(f"  [dim]{plain(label):<14}[/] {plain(value)}")


def _shown(change: FieldChange) -> str:
    if change.field == "bundleSize":
        step = change.after - change.before
        return f"{sized(change.before)} -> {sized(change.after)} ({step:+,} bytes)"
    if change.field == "cssSha256Hash":
        return "new" if change.before is None else "dropped" if change.after is None else "changed"
    return f"{_short(change.before)} -> {_short(change.after)}"


def _first_line(text: str) -> str:
    return next((it.strip() for it in text.splitlines() if it.strip()), "")


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def choose_scope(session: Session, given: str | None, manifest: Manifest) -> Scope:
    """The scope of --scope, or of the manifest, or the only one, or the personal one.

    A scope without permission is rejected before anything published there is shown.
    """
    try:
        named = manifest.scope if given is None else Scope.parse(given.removeprefix("@"))
    except InvalidName as error:
        raise wrong_usage(error.message, "Choose another with --scope.") from None
    places = list_scopes(session)
    limits = get_account(session).token if session.is_machine else None
    if limits is not None and limits.widgets:
        places = _require_admitted(places, limits, named, str(manifest.name))
    names = ", ".join(it.name for it in places)
    who = "The token in WIDGET_TOKEN" if session.is_machine else "You"
    if not places:
        raise not_allowed(
            f"{who} may not publish to any scope.",
            "Use a token that may publish, or ask the catalog's operator.",
        )
    if named is not None:
        if all(it.name != named for it in places):
            raise not_allowed(
                f"{who} may not publish to the scope {named}.",
                f"Choose one of your scopes with --scope ({names}), or ask an owner of {named}.",
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
    raise not_allowed(
        f"The token in WIDGET_TOKEN may not publish {wanted}. It may only publish {allowed}.",
        f"Correct name or scope in {MANIFEST}, or use another token.",
    )


def make_plan(session: Session, key: WidgetKey, local: LocalWidget) -> Plan:
    """Compare with the published versions. The same number with other content is rejected."""
    detail = find_detail(session, key)
    wanted = local.manifest.version
    existing = find_version(detail.versions, wanted) if detail else None
    if existing is not None and not _is_same_content(session, local, existing):
        raise AlreadyPublished(
            f"{key} {existing.version} is already published, with different content.",
            "A published version never changes: publish with --bump patch.",
            ExitCode.CONFLICT,
        )
    fields = []
    if existing is not None:
        fields = differing_fields(local, existing, find_requested(session, key, existing))
    if existing is not None and (serious := [it for it in fields if it in _SERIOUS]):
        raise AlreadyPublished(
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
    warnings = local.warnings
    for warning in warnings:
        warn(warning)
    if detail is None or last is None:
        return Plan(session.url, key, local, last, existing, None, warnings)
    last_style = find_style(session, last) if existing is None else None
    before = find_requested(session, key, last) or requested(last.permissions, None)
    changed = _settings_changes(session, key, local, last) if existing is None else ()
    noted = detail.newest_with_notes
    compared = (last_style, warnings, before, noted, changed)
    return Plan(session.url, key, local, last, existing, *compared)


def _settings_changes(
    session: Session, key: WidgetKey, local: LocalWidget, last: VersionEntry
) -> tuple[str, ...]:
    new = schema_of(msgspec.json.decode(local.manifest.text))
    if not new or local.manifest.config_version != last.config_version:
        return ()
    old = schema_of(find_manifest(session, key, last) or {})
    return tuple(settings_changes(old, new)) if old else ()


def _is_same_content(session: Session, local: LocalWidget, existing: VersionEntry) -> bool:
    """Whether the published version has the same content."""
    if existing.sha256_hash.lower() != local.bundle.sha256_hash:
        return False
    return find_style(session, existing) == (local.style.content if local.style else None)
