"""Reports: visitors report a widget, and the operator decides.

Reporting needs no account. Reports are visible only to operators: neither they nor their audit
entries are in the log of the widget, which its owners can read.
"""

from contextlib import suppress
from typing import NamedTuple

from widget_contract.errors import InvalidName
from widget_contract.names import Scope, WidgetName
from widget_contract.texts import line_error, text_error

from ..accounts.attempts import count_attempt
from ..accounts.permissions import require_operator_now
from ..catalog.model.events import Event
from ..catalog.model.widgets import Widget
from ..catalog.store.events import append
from ..catalog.store.widgets import find_widget
from ..core.actors import Actor, Anonymous
from ..core.credentials import new_id
from ..core.db import rows
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, FieldMessage, InvalidRequest, NotFound
from ..core.networks import network_of
from . import store as reports
from .store import Report


class Reported(Event, frozen=True):
    """Visible to operators only, so it is in no scope, whose log owners can read."""

    kind, action = "reported", "report widget"
    report: str
    widget: str


class ReportDecided(Event, frozen=True):
    kind, action = "report_decided", "decide about a report"
    report: str
    widget: str
    state: str
    note: str | None = None


CATEGORIES = ("harmful", "impersonation", "rights", "offensive", "other")
STATES = ("open", "resolved", "dismissed")
MAX_TEXT = 4_000
_MAX_CONTACT = 200
_MAX_NOTE = 500
# Limits on open reports, per widget and in total: they take up space and an operator's time.
_MAX_OF_WIDGET = 100
_MOST = 10_000
# How long a report is kept after it was resolved. The audit log keeps the decision.
_KEPT_MS = 365 * 86_400_000
_OFF = "Reports are switched off in this catalog."


class ReportForm(NamedTuple):
    """The content of a report. An empty version means the widget as a whole."""

    category: str
    text: str
    version: str = ""
    contact: str = ""


def find_reportable(store: Store, scope: str, name: str, most: int) -> Widget:
    """The widget, if it is listed; NotFound otherwise, and if reports are disabled (`most` 0)."""
    if not most:
        raise NotFound(_OFF)
    stored = None
    with store.reading() as connection, suppress(InvalidName):
        stored = find_widget(connection, Scope.parse(scope), WidgetName.parse(name))
    if stored is None or not stored.widget.is_listed:
        raise NotFound(f"There is no widget {scope}/{name}.")
    return stored.widget


def report_widget(
    store: Store, address: str, scope: str, name: str, said: ReportForm, most: int
) -> None:
    """Store a report; at most `most` are accepted from one network per window (`attempts.py`)."""
    widget = find_reportable(store, scope, name, most)
    _check(said, widget)
    sentence = "You have sent many reports in a short time."
    count_attempt(store, {f"report {network_of(address)}": most}, sentence)
    with store.writing() as tx:
        _check_room(tx.connection, scope, name)
        report = Report(
            id=new_id(),
            scope=scope,
            name=name,
            version=said.version or None,
            category=said.category,
            text=said.text,
            contact=said.contact or None,
            created_at=tx.at_ms,
        )
        reports.add_report(tx, report)
        append(tx, Anonymous(address), Reported(report=report.id, widget=f"{scope}/{name}"))


def decide_about(store: Store, actor: Actor, id_: str, state: str, note: str) -> None:
    """`state`: `resolved`, if something was done about it, or `dismissed`."""
    if note and (error := line_error(note, _MAX_NOTE)):
        raise InvalidRequest(f"note: {error}")
    with store.writing() as tx:
        require_operator_now(tx.connection, actor)
        report = reports.find_report(tx.connection, id_)
        if report is None:
            raise NotFound("There is no such report.")
        if not reports.decide_report(tx, id_, state, actor.name, note or None):
            raise Conflict("Somebody has decided about this report already.")
        key = f"{report.scope}/{report.name}"
        event = ReportDecided(report=id_, widget=key, state=state, note=note or None)
        append(tx, actor, event)


def forget_reports(store: Store) -> None:
    """Remove reports decided long ago, because they may contain contact details."""
    rows.remove_if_any(store, reports.reports, reports.is_decided_before(store.now_ms() - _KEPT_MS))


def _check(said: ReportForm, widget: Widget) -> None:
    errors = []
    if said.category not in CATEGORIES:
        errors.append(FieldMessage("category", "Choose what is wrong."))
    if error := text_error(said.text, MAX_TEXT) if said.text else "must not be empty.":
        errors.append(FieldMessage("text", f"What you have seen {error}"))
    if said.contact and (error := line_error(said.contact, _MAX_CONTACT)):
        errors.append(FieldMessage("contact", f"How to reach you {error}"))
    if said.version and said.version not in {version.number for version in widget.versions}:
        errors.append(FieldMessage("version", "Choose one of the versions."))
    if errors:
        raise InvalidRequest(*errors)


def _check_room(connection: Snapshot, scope: str, name: str) -> None:
    if reports.count_open_reports(connection, scope, name) >= _MAX_OF_WIDGET:
        raise Conflict(
            "The operator has many reports about this widget already, and will look into them."
        )
    if reports.count_open_reports(connection) >= _MOST:
        raise Conflict("The operator has more reports than can be kept. Try again another day.")
