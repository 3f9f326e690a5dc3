"""What mirrors tell rooms below: that this catalog is one."""

from ..catalog.store.events import describe_copying, find_upstream
from ..core.db.engine import Snapshot
from ..core.hooks import Hooks
from .status import describe_status
from .store import find_mirror


def _find_url(connection: Snapshot) -> str | None:
    mirror = find_mirror(connection)
    return None if mirror is None else mirror.url


HOOKS: Hooks = {find_upstream: _find_url, describe_copying: describe_status}
