"""The publishing plan, for people and for scripts."""

from typing import Any

import msgspec

from widget_contract.addresses import style_address
from widget_contract.capabilities import (
    Permission,
    PermissionChanges,
    in_words,
    names_of,
    permission_changes,
)

from .addresses import WidgetKey
from .console import plain, say, sized
from .differences import Change, changes, requested_by, style_change
from .shapes import VersionEntry
from .widget_folder import LocalWidget

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

    @property
    def page_url(self) -> str:
        return f"{self.url}/widgets/{self.key}"

    @property
    def is_published(self) -> bool:
        return self.existing is not None

    @property
    def permission_changes(self) -> PermissionChanges:
        return permission_changes(self.last_requested, requested_by(self.local))

    def changes(self) -> list[Change]:
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
    _line("SDK", manifest.sdk_version)
    _line("permissions", ", ".join(map(in_words, requested_by(local))) or "none")
    if plan.last is None:
        say.print("\nThis is the first version.\n")
        return
    say.print(f"\nChanges since {plain(plan.last.version)}, the last version:")
    differing = plan.changes()
    for change in differing:
        if change.field != "sha256Hash":
            _line(_LABELS.get(change.field, change.field), _shown(change))
    if all(change.field != "sha256Hash" for change in differing):
        _line("module", "unchanged")
    added, removed = plan.permission_changes
    for it in removed:
        _line("permission", f"no longer {in_words(it)}")
    for it in added:
        say.print(f"  [bold yellow]new permission  {plain(in_words(it))}[/]")
    say.print()


def plan_document(plan: Plan, status: str, answer: dict[str, Any]) -> dict[str, Any]:
    """The result of `widget publish` for a script."""
    local, last = plan.local, plan.last
    if plan.existing is not None:
        address = plan.existing.bundle_url
        answer = {"bundleUrl": address}
        if local.style is not None:
            answer["cssUrl"] = style_address(address)
    return {
        "status": status,
        "catalog": plan.url,
        "scope": plan.key.scope,
        "name": plan.key.name,
        "version": local.manifest.version.text,
        "pageUrl": plan.page_url,
        "bundleUrl": answer.get("bundleUrl"),
        "cssUrl": answer.get("cssUrl"),
        "bundleSize": local.bundle.size_bytes,
        "sha256Hash": local.bundle.sha256_hash,
        "sdkVersion": local.manifest.sdk_version,
        "permissions": list(local.manifest.permissions),
        "newPermissions": names_of(plan.permission_changes.added),
        "previousVersion": last.version if last else None,
        "changes": [it._asdict() for it in plan.changes()],
        "warnings": list(plan.warnings),
    }


def _line(label: str, value: object) -> None:
    say.print(f"  [dim]{plain(label):<14}[/] {plain(value)}")


def _shown(change: Change) -> str:
    if change.field == "bundleSize":
        step = change.after - change.before
        return f"{sized(change.before)} -> {sized(change.after)} ({step:+,} bytes)"
    if change.field == "cssSha256Hash":
        return "new" if change.before is None else "dropped" if change.after is None else "changed"
    return f"{_short(change.before)} -> {_short(change.after)}"


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"
