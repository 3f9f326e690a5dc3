"""What accounts tell the catalog: whether there are any."""

from ..catalog.node.opening import has_people
from ..core.hooks import Hooks
from .store import has_accounts

HOOKS: Hooks = {has_people: has_accounts}
