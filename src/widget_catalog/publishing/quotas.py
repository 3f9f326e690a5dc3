"""Quotas of an account. Operators have none.

They are counted from the tables, inside the transaction that uses them. Publishing is serialized,
and a new owner's account is locked: so they are exact across all processes and tokens, and survive
a restart. Only successful operations count.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from ..catalog.model.events import (
    Deprecated,
    Listed,
    PublishersChanged,
    Undeprecated,
    Unlisted,
    Unyanked,
    Yanked,
)
from ..catalog.model.settings import CatalogSettings
from ..catalog.model.widgets import Widget
from ..catalog.store.audit import list_instants
from ..core.actors import Actor
from ..core.clock import format_duration
from ..core.db.engine import Snapshot, Transaction
from ..core.errors import InvalidRequest, TooOften
from ..core.settings import Settings
from .settings import PublishingSettings
from .store import (
    LIFETIME_MS,
    add_publication,
    end_open_request,
    list_ends_of_open,
    list_publications,
    list_unconfirmed,
    remove_publications,
)

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_WIDGET_CHANGES = frozenset(
    change.kind
    for change in (Yanked, Unyanked, Deprecated, Undeprecated, Listed, Unlisted, PublishersChanged)
)
_ASK = "or ask the operator of this catalog to raise the limit."


class Quotas(NamedTuple):
    """0 is no limit."""

    new_widgets_per_day: int = 0
    versions_per_hour: int = 0
    bytes_per_day: int = 0
    changes_per_hour: int = 0
    open_requests: int = 0
    document_bytes: int = 0


# For the command line, and for tests of other features.
NO_QUOTAS = Quotas()


def quotas_from(settings: Settings) -> Quotas:
    ours = settings.of(PublishingSettings)
    return Quotas(
        new_widgets_per_day=ours.max_new_widgets_per_day,
        versions_per_hour=ours.max_versions_per_hour,
        bytes_per_day=ours.max_bytes_per_day,
        changes_per_hour=ours.max_changes_per_hour,
        open_requests=ours.max_open_requests,
        document_bytes=settings.of(CatalogSettings).max_document_bytes,
    )


class Load(NamedTuple):
    """What publishing a version would add."""

    size_bytes: int
    is_new_widget: bool


def check_may_publish(
    connection: Snapshot, actor: Actor, quotas: Quotas, load: Load, now_ms: int
) -> None:
    """Raises TooOften if the account has reached its publishing quotas."""
    if actor.is_operator:
        return
    hour, day = now_ms - _HOUR_MS, now_ms - _DAY_MS
    today = list_publications(connection, actor.account_id, day, now_ms)
    most = quotas.versions_per_hour
    sentence = f"At most {most:,} versions can be published in an hour."
    _check(
        [(it.published_at, 1) for it in today if it.published_at > hour], 1, most, hour, sentence
    )
    most, more = quotas.bytes_per_day, load.size_bytes
    sentence = (
        f"At most {most:,} bytes can be published in 24 hours, and this version has {more:,}."
    )
    _check([(it.published_at, it.size_bytes) for it in today], more, most, day, sentence)
    if load.is_new_widget:
        most = quotas.new_widgets_per_day
        sentence = f"At most {most:,} new widgets can be published in 24 hours."
        _check([(it.published_at, 1) for it in today if it.is_new_widget], 1, most, day, sentence)


def count_publication(tx: Transaction, actor: Actor, load: Load) -> None:
    """Call this in the transaction that publishes, so that failures are not counted."""
    remove_publications(tx, tx.at_ms - _DAY_MS)
    add_publication(tx, actor.account_id, load.size_bytes, is_new_widget=load.is_new_widget)


def check_document_size(widget: Widget, size_bytes: int, quotas: Quotas) -> None:
    """Raises InvalidRequest if the widget's detail would be too large: every reader downloads it,
    so this applies to operators, too.
    """
    most = quotas.document_bytes
    if most and size_bytes > most:
        raise InvalidRequest(
            f"With this version, the detail of {widget.scope}/{widget.name} would have "
            f"{size_bytes:,} bytes, and at most {most:,} are allowed: all its "
            f"{len(widget.versions):,} versions with their release notes are in it. Shorten the "
            "release notes of this version (a link to a changelog will do), publish under a new "
            f"widget name, {_ASK}"
        )


def check_may_change(tx: Transaction, actor: Actor, quotas: Quotas) -> None:
    """Raises TooOften if the account has reached its quota of changes to widgets."""
    sentence = (
        "changes to widgets can be made in an hour: to yank, deprecate, list or unlist them, or to "
        "name their publishers."
    )
    check_changes(tx, actor, quotas, _WIDGET_CHANGES, sentence)


def check_changes(
    tx: Transaction, actor: Actor, quotas: Quotas, kinds: frozenset[str], sentence: str
) -> None:
    """Raises TooOften if the account has made too many changes of these kinds in the last hour.
    Changes of each sort have the same limit. The account must be locked.
    """
    most, since = quotas.changes_per_hour, tx.at_ms - _HOUR_MS
    if actor.is_operator or not most:
        return
    used = list_instants(tx.connection, actor.name, kinds, since, tx.at_ms)
    _check([(at, 1) for at in used], 1, most, since, f"At most {most:,} {sentence}")


def make_room_for_request(
    tx: Transaction, actor: Actor, quotas: Quotas, scope: str, name: str, version: str
) -> None:
    """Raises TooOften at the limit, unless an older request for the same version can be replaced.

    The upload URLs of an object store stay valid after a request has ended, so these are limited,
    too.
    """
    most = quotas.open_requests
    if actor.is_operator or not most:
        return
    account_id, since = actor.account_id, tx.at_ms - LIFETIME_MS
    made = [(at, 1) for at in list_unconfirmed(tx.connection, account_id, since)]
    sentence = (
        f"You have made {2 * most:,} requests to publish in the last hour that were not confirmed, "
        "which is the limit."
    )
    _check(made, 1, 2 * most, since, sentence)
    ends = list_ends_of_open(tx.connection, account_id, tx.at_ms)
    if len(ends) < most:
        return
    if not end_open_request(tx, account_id, scope, name, version):
        # The limit may have been lowered, so that several have to end.
        wait_s = max(1, math.ceil((ends[len(ends) - most] - tx.at_ms) / 1000))
        sentence = (
            f"You have {len(ends):,} requests to publish that are not confirmed, and at most "
            f"{most:,} are allowed. Confirm some, or try again in {format_duration(wait_s)}: a "
            "request ends an hour after it was made."
        )
        raise TooOften(sentence, wait_s=wait_s)


def _check(
    used: Iterable[tuple[int, int]], more: int, most: int, since: int, sentence: str
) -> None:
    """`used` are times and amounts after `since`, oldest first. Each expires after as much time as
    lies between `since` and now.
    """
    used = list(used)
    over = sum(amount for _, amount in used) + more - most
    if most == 0 or over <= 0:
        return
    if more > most:
        raise TooOften(f"{sentence} Make it smaller, {_ASK}", wait_s=_DAY_MS // 1000)
    wait_ms = 0
    for at, amount in used:
        over -= amount
        if over <= 0:
            wait_ms = at - since
            break
    wait_s = max(1, math.ceil(wait_ms / 1000))
    raise TooOften(f"{sentence} Try again in {format_duration(wait_s)}, {_ASK}", wait_s=wait_s)
