"""Events of reports."""

from ..catalog.events import Event


class Reported(Event, frozen=True):
    """Visible to operators only, so it is in no scope, whose log owners can read."""

    kind = "reported"
    action = "report widget"

    report: str
    widget: str


class ReportDecided(Event, frozen=True):
    kind = "report_decided"
    action = "decide about a report"

    report: str
    widget: str
    state: str
    note: str | None = None
