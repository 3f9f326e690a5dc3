"""`widget webhooks`: webhooks of scopes, and their deliveries."""

import time
from typing import Annotated, Any

import msgspec
import typer

from ..addresses import parse_scope, path_part
from ..catalog import get_account
from ..console import plain, require_agreement, say, show_done, show_table, shows_json
from ..errors import ToolError
from ..options import App, YesOption, in_session
from ..responses import not_a_catalog, shaped
from ..session import Session

app = App(help="Manage webhooks, which send the changes of a scope to a URL.")

# A test event is sent within a second or two, and its receiver may take ten.
_WAIT_S = 30.0
_ASK_EVERY_S = 0.5

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id shown by: widget webhooks list")
]


class Webhook(msgspec.Struct, rename="camel"):
    id: str
    url: str
    scope: str | None = None
    types: list[str] = []
    failing_since: str | None = None
    disabled_at: str | None = None
    disabled_reason: str | None = None

    @property
    def state(self) -> str:
        if self.disabled_at is not None:
            return f"disabled: {self.disabled_reason}" if self.disabled_reason else "disabled"
        return "enabled" if self.failing_since is None else f"failing since {self.failing_since}"


class Delivery(msgspec.Struct, rename="camel"):
    id: str
    type: str
    state: str
    queued_at: str
    attempts: int = 0
    last_status: int | None = None
    last_error: str | None = None

    @property
    def outcome(self) -> str:
        """The last response of the receiver."""
        if self.last_error is not None:
            return self.last_error
        return (
            "" if self.last_status is None else f"The receiver responded with {self.last_status}."
        )


@app.command("list")
@in_session
def list_(
    session: Session,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE", help="Only webhooks of this scope.", show_default="all scopes you own"
        ),
    ] = None,
) -> None:
    """List the webhooks of your scopes."""
    params = None if scope is None else {"scope": parse_scope(scope)}
    found = session.get("/api/webhooks", params)
    webhooks = shaped(found.get("webhooks"), list[Webhook], session.url)
    if shows_json(found):
        return
    rows = [
        (
            webhook.id,
            webhook.scope or "the catalog",
            webhook.url,
            ", ".join(webhook.types) or "all",
            webhook.state,
        )
        for webhook in webhooks
    ]
    show_table(("id", "scope", "URL", "events", "state"), rows)
    if not rows:
        say.print("There are no webhooks.")


@app.command()
@in_session
def add(
    session: Session,
    url: Annotated[str, typer.Argument(metavar="URL", help="The URL to send events to.")],
    scope: Annotated[
        str | None,
        typer.Option(metavar="SCOPE", help="The scope to watch.", show_default="your own scope"),
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option(
            "--type",
            metavar="TYPE",
            help="Only events of this type, e.g. published; repeatable.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Add a webhook and print its secret to standard output. It is shown only once."""
    place = get_account(session).username if scope is None else parse_scope(scope)
    body = {"url": url, "scope": place, "types": type_ or []}
    made = session.post("/api/webhooks", body)
    webhook = shaped(made, Webhook, session.url)
    secret = _secret_in(made, session)
    if shows_json(made):
        return
    say.print(f"Added webhook {plain(webhook.id)} for {plain(place)}. Try it with:")
    say.print(f"  widget webhooks test {plain(webhook.id)}")
    say.print("Store its secret, which the receiver verifies signatures with:")
    typer.echo(secret)


@app.command()
@in_session
def remove(session: Session, webhook_id: IdArgument, yes: YesOption = False) -> None:
    """Remove a webhook. Pending deliveries are dropped."""
    require_agreement(f"Remove webhook {webhook_id}?", yes)
    session.delete(_path(webhook_id))
    show_done(f"The webhook {webhook_id} is removed.", id=webhook_id)


@app.command()
@in_session
def rotate(session: Session, webhook_id: IdArgument) -> None:
    """Create a new secret and print it. For a day, events are signed with both secrets."""
    made = session.post(f"{_path(webhook_id)}/rotate")
    secret = _secret_in(made, session)
    if shows_json(made):
        return
    say.print("Store the new secret; it is shown only once:")
    typer.echo(secret)


@app.command()
@in_session
def enable(session: Session, webhook_id: IdArgument) -> None:
    """Enable a disabled webhook. It receives changes from now on."""
    session.post(f"{_path(webhook_id)}/enable")
    show_done(f"The webhook {webhook_id} is enabled.", id=webhook_id)


@app.command()
@in_session
def disable(session: Session, webhook_id: IdArgument) -> None:
    """Disable a webhook: nothing is sent until it is enabled again."""
    session.post(f"{_path(webhook_id)}/disable")
    show_done(f"The webhook {webhook_id} is disabled.", id=webhook_id)


@app.command("test")
@in_session
def send_test(session: Session, webhook_id: IdArgument) -> None:
    """Send a test event and wait for the response."""
    sent = session.post(f"{_path(webhook_id)}/ping")
    sent = _wait_until_tried(session, webhook_id, sent)
    delivery = shaped(sent, Delivery, session.url)
    if delivery.last_error is not None and delivery.attempts:
        hint = f"It will be retried. Follow it with: widget webhooks log {webhook_id}"
        raise ToolError(f"The test event failed. {delivery.last_error}", hint)
    if shows_json(sent):
        return
    if delivery.state == "delivered":
        say.print(f"The test event was delivered. {plain(delivery.outcome)}")
    else:
        say.print("The test event is queued. Follow it with:")
        say.print(f"  widget webhooks log {plain(webhook_id)}")


@app.command()
@in_session
def log(
    session: Session,
    webhook_id: IdArgument,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=100, help="Number of deliveries, up to 100.")
    ] = 20,
) -> None:
    """List sent and pending deliveries of a webhook, newest first."""
    found = session.get(f"{_path(webhook_id)}/deliveries", {"limit": limit})
    deliveries = shaped(found.get("deliveries"), list[Delivery], session.url)
    if shows_json(found):
        return
    rows = [
        (it.queued_at, it.id, it.type, it.state, str(it.attempts), it.outcome) for it in deliveries
    ]
    show_table(("queued", "id", "event", "state", "attempts", "outcome"), rows)
    if not rows:
        say.print("No deliveries yet.")


@app.command()
@in_session
def replay(
    session: Session,
    webhook_id: IdArgument,
    delivery_id: Annotated[
        str, typer.Argument(metavar="DELIVERY", help="The id shown by: widget webhooks log")
    ],
) -> None:
    """Send a delivery again, with the same id and body."""
    queued = session.post(f"{_path(webhook_id)}/deliveries/{path_part(delivery_id)}/replay")
    if shows_json(queued):
        return
    say.print(f"The delivery {plain(delivery_id)} is queued again. Follow it with:")
    say.print(f"  widget webhooks log {plain(webhook_id)}")


def _wait_until_tried(session: Session, webhook_id: str, sent: dict[str, Any]) -> dict[str, Any]:
    """The delivery after the receiver has responded, or its state after a timeout."""
    ends_at = time.monotonic() + _WAIT_S
    while time.monotonic() < ends_at:
        time.sleep(_ASK_EVERY_S)
        found = session.get(f"{_path(webhook_id)}/deliveries", {"limit": 100}).get("deliveries")
        for delivery in shaped(found, list[dict[str, Any]], session.url):
            # An attempt is counted when it starts; the response follows.
            if delivery.get("id") == sent.get("id") and _is_tried(delivery, sent):
                return delivery
    return sent


def _is_tried(delivery: dict[str, Any], before: dict[str, Any]) -> bool:
    """Whether there was a new attempt: a test event that failed before has an old response."""
    return delivery.get("lastAttemptAt") not in (None, before.get("lastAttemptAt"))


def _secret_in(made: dict[str, Any], session: Session) -> str:
    secret = made.get("secret")
    if not isinstance(secret, str) or not (secret.isascii() and secret.isprintable()):
        raise not_a_catalog(session.url)
    return secret


def _path(webhook_id: str) -> str:
    return f"/api/webhooks/{path_part(webhook_id)}"


def register(main: typer.Typer) -> None:
    main.add_typer(app, name="webhooks", rich_help_panel="Account")
