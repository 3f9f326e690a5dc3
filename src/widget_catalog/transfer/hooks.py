"""What imports tell rooms below: which scopes will get widgets."""

from ..catalog.store.ownerless import is_being_imported
from ..core.hooks import Hooks
from .staging_store import is_scope_staged

HOOKS: Hooks = {is_being_imported: is_scope_staged}
