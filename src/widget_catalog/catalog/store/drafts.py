"""Writes drafts into the catalog: new widgets, and new versions of existing widgets.

Existing data is not changed, so writing the same drafts again has no effect.
"""

from collections.abc import Iterable, Sequence

import msgspec

from ...core.actors import COMMAND_LINE
from ...core.db.engine import Transaction
from ..events import Imported, Revoked
from ..widgets import Version, Widget
from .rows import Draft
from .widgets import add_drafts, find_hashes, find_widgets, replace_widget


def write_drafts(tx: Transaction, drafts: Sequence[Draft]) -> None:
    """Write what is missing, in order."""
    seen = set(find_hashes(tx.connection, sorted({it.key for it in drafts})))
    new, others = [], []
    for it in drafts:
        if it.key in seen:
            others.append(it)
        else:
            seen.add(it.key)
            new.append(it)
    add_drafts(tx, new)
    merge_drafts(tx, others)


def merge_drafts(tx: Transaction, drafts: Iterable[Draft]) -> None:
    """Add missing versions to existing widgets."""
    rest = list(drafts)
    # The same widget may be in several drafts: each is compared with the previous state.
    while rest:
        first: dict[tuple[str, str], Draft] = {}
        again = []
        for it in rest:
            if it.key in first:
                again.append(it)
            else:
                first[it.key] = it
        for key, old in find_widgets(tx.connection, list(first)).items():
            draft = first[key].to_widget()
            if added := _missing(old.widget, draft):
                version = added[0].number if len(added) == 1 else None
                imported = Imported(scope=draft.scope, name=draft.name, version=version)
                merged = _merged(old.widget, draft, added)
                revoked = [
                    Revoked(
                        scope=draft.scope,
                        name=draft.name,
                        version=it.number,
                        reason=it.revocation.reason,
                    )
                    for it in added
                    if it.revocation is not None
                ]
                replace_widget(tx, old, merged, COMMAND_LINE, imported, *revoked)
        rest = again


def _missing(old: Widget, new: Widget) -> list[Version]:
    known = {version.identity for version in old.versions}
    return [version for version in new.versions if version.identity not in known]


def _merged(old: Widget, new: Widget, added: list[Version]) -> Widget:
    merged = old.with_versions([*old.versions, *added])
    if merged.versions[0] not in added:
        return merged
    # The newest version determines the widget's own texts.
    return msgspec.structs.replace(
        merged, display_name=new.display_name, description=new.description, icon=new.icon
    )
