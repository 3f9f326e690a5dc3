"""Domain values from and to table rows: the one place that knows both shapes."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..domain.clock import from_ms, to_ms
from ..domain.names import Scope, WidgetName
from ..domain.semver import SemVer
from ..domain.widgets import Size, Version, Widget

Row = dict[str, Any]


class StoredWidget(NamedTuple):
    """A widget and the number the store knows it by."""

    id: int
    widget: Widget


def identity(version: SemVer) -> str:
    """The version without its build metadata: what makes it the same or another one."""
    return str(version).partition("+")[0]


def widget_row(widget_id: int, widget: Widget) -> Row:
    return {
        "id": widget_id,
        "scope": widget.scope,
        "name": widget.name,
        "display_name": widget.display_name,
        "description": widget.description,
        "icon": widget.icon,
        "is_official": widget.is_official,
        "is_listed": widget.is_listed,
        "created_at": to_ms(widget.created_at),
    }


def version_row(widget_id: int, version: Version) -> Row:
    return {
        "widget_id": widget_id,
        "identity": identity(version.version),
        "version": str(version.version),
        "bundle_url": version.bundle_url,
        "bundle_size": version.bundle_size,
        "sha256_hash": version.sha256_hash,
        "published_at": to_ms(version.published_at),
        "is_yanked": version.is_yanked,
        "yanked_reason": version.yanked_reason,
        "deprecation_message": version.deprecation_message,
        "release_notes": version.release_notes,
        "display_name": version.display_name,
        "description": version.description,
        "icon": version.icon,
        "min_w": version.min_size.w,
        "min_h": version.min_size.h,
        "max_w": version.max_size.w,
        "max_h": version.max_size.h,
        "sdk_version": version.sdk_version,
        "config_version": version.config_version,
        "permissions": json.dumps(version.permissions) if version.permissions else "[]",
        "license": version.license,
    }


def widget_from(row: Any, versions: Sequence[Version]) -> Widget:
    return Widget(
        scope=Scope(row.scope),
        name=WidgetName(row.name),
        display_name=row.display_name,
        description=row.description,
        icon=row.icon,
        is_official=row.is_official,
        is_listed=row.is_listed,
        created_at=from_ms(row.created_at),
    ).with_versions(list(versions))


def version_from(row: Any) -> Version:
    return Version(
        version=SemVer.parse(row.version),
        bundle_url=row.bundle_url,
        bundle_size=row.bundle_size,
        sha256_hash=row.sha256_hash,
        published_at=from_ms(row.published_at),
        is_yanked=row.is_yanked,
        yanked_reason=row.yanked_reason,
        deprecation_message=row.deprecation_message,
        release_notes=row.release_notes,
        display_name=row.display_name,
        description=row.description,
        icon=row.icon,
        min_size=Size(row.min_w, row.min_h),
        max_size=Size(row.max_w, row.max_h),
        sdk_version=row.sdk_version,
        config_version=row.config_version,
        permissions=tuple(json.loads(row.permissions)),
        license=row.license,
    )
