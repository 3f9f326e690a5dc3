"""Domain values from and to table rows: the one place that knows both shapes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ..domain.clock import from_ms, to_ms
from ..domain.names import Scope, WidgetName
from ..domain.semver import SemVer
from ..domain.widgets import Size, Version, Widget

Row = tuple[Any, ...]


class StoredWidget(NamedTuple):
    """A widget and the number the store knows it by."""

    id: int
    widget: Widget


def widget_row(widget_id: int, widget: Widget) -> Row:
    """In the order of the table's columns."""
    return (
        widget_id,
        widget.scope,
        widget.name,
        widget.display_name,
        widget.description,
        widget.icon,
        widget.is_official,
        widget.is_listed,
        to_ms(widget.created_at),
    )


def version_row(widget_id: int, version: Version) -> Row:
    """In the order of the table's columns."""
    return (
        widget_id,
        version.identity,
        version.number,
        version.bundle_url,
        version.bundle_size,
        version.sha256_hash,
        to_ms(version.published_at),
        version.is_yanked,
        version.yanked_reason,
        version.deprecation_message,
        version.release_notes,
        version.display_name,
        version.description,
        version.icon,
        version.min_size.w,
        version.min_size.h,
        version.max_size.w,
        version.max_size.h,
        version.sdk_version,
        version.config_version,
        msgspec.json.encode(version.permissions).decode(),
        version.license,
    )


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
        permissions=msgspec.json.decode(row.permissions, type=tuple[str, ...]),
        license=row.license,
    )
