"""What two versions ask for, compared by their encoded entries: permissions and settings."""

from functools import lru_cache

import msgspec

from widget_contract.capabilities import PermissionChanges, may_be_narrowed, permission_changes
from widget_contract.wire_running import ConfigVersionChange

# Markers of these fields in an entry. They cannot occur in text, where quotes are escaped.
_CONFIG, _PERMISSIONS, _LICENSE = b',"configVersion":', b',"permissions":', b',"license":'
decode_permissions = msgspec.json.Decoder(tuple[str, ...]).decode


def permission_changes_of(before: bytes, after: bytes) -> PermissionChanges | None:
    """None: some may be narrowed, so the manifests must be compared."""
    old, new = decode_permissions(before), decode_permissions(after)
    if may_be_narrowed(old) or may_be_narrowed(new):
        return None
    return permission_changes(tuple(dict.fromkeys(old)), tuple(dict.fromkeys(new)))


# Most widgets need one or two of the same few permissions.
known_changes = lru_cache(maxsize=1_000)(permission_changes_of)


def config_change(old: bytes | None, new: bytes | None) -> ConfigVersionChange | None:
    if old is None or new is None or new is old:
        return None
    before, after = (
        msgspec.json.decode(
            requested[requested.rindex(_CONFIG) + len(_CONFIG) : requested.rindex(_PERMISSIONS)]
        )
        for requested in (old, new)
    )
    return None if before == after else ConfigVersionChange(before, after)


def permissions_text(entry: bytes) -> bytes:
    """The permissions of an entry, as JSON."""
    start = entry.rindex(_PERMISSIONS) + len(_PERMISSIONS)
    return entry[start : entry.rindex(_LICENSE)]
