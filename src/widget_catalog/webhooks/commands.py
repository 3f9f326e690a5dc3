"""`widget-catalog webhook …`: webhooks and their deliveries."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    JsonOption,
    command_group,
    existing_node,
    open_existing,
    report,
)
from ..core.actors import COMMAND_LINE
from ..core.load_settings import load_settings

if TYPE_CHECKING:
    from .managing import IssuedWebhook
    from .model import Delivery, Webhook

webhooks = command_group("webhook", "Manage webhooks, which send changes to a URL.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The webhook's id, shown by list.")]
ScopeOption = Annotated[
    str | None, typer.Option(help="Only webhooks of this scope.", show_default="the whole catalog")
]


@webhooks.command()
def add(
    url: Annotated[str, typer.Argument(metavar="URL", help="The URL to send events to.")],
    scope: ScopeOption = None,
    type_: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only events of this type; repeatable."),
    ] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Add a webhook and print the secret that its deliveries are signed with."""
    from ..catalog.node.opening import open_secret_box
    from .managing import create_webhook
    from .settings import WebhookSettings

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    box, ours = open_secret_box(node.folder, settings), settings.of(WebhookSettings)
    issued = create_webhook(
        node.store, COMMAND_LINE, box, ours, url, scope=scope, types=type_ or []
    )
    _print_issued(issued, as_json=as_json)


@webhooks.command("list")
def list_(
    scope: ScopeOption = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """List all webhooks, or those of one scope."""
    from .managing import list_managed_webhooks
    from .model import shown_webhook

    found = list_managed_webhooks(open_existing(data, config).store, COMMAND_LINE, scope)
    if as_json:
        print(json.dumps([shown_webhook(it) for it in found], indent=2))  # noqa: T201
    elif found:
        print("\n".join(map(_webhook_line, found)))  # noqa: T201
    else:
        report("There are no webhooks.")


@webhooks.command()
def remove(webhook: Id, data: DataOption = None, config: ConfigOption = None) -> None:
    """Remove a webhook. Pending deliveries are dropped."""
    from .managing import delete_webhook

    removed = delete_webhook(open_existing(data, config).store, COMMAND_LINE, webhook)
    report(f"The webhook to {removed.url} is removed.")


@webhooks.command()
def rotate(
    webhook: Id, as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Create a new secret and print it. For a day, deliveries are signed with both secrets."""
    from ..catalog.node.opening import open_secret_box
    from .managing import rotate_secret

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    box = open_secret_box(node.folder, settings)
    _print_issued(rotate_secret(node.store, COMMAND_LINE, box, webhook), as_json=as_json)


@webhooks.command()
def enable(webhook: Id, data: DataOption = None, config: ConfigOption = None) -> None:
    """Enable a disabled webhook. It receives changes from now on."""
    from .managing import set_enabled

    set_enabled(open_existing(data, config).store, COMMAND_LINE, webhook, is_enabled=True)
    report("The webhook is enabled.")


@webhooks.command()
def disable(webhook: Id, data: DataOption = None, config: ConfigOption = None) -> None:
    """Disable a webhook: nothing is sent until it is enabled again."""
    from .managing import set_enabled

    set_enabled(open_existing(data, config).store, COMMAND_LINE, webhook, is_enabled=False)
    report("The webhook is disabled.")


@webhooks.command()
def ping(webhook: Id, data: DataOption = None, config: ConfigOption = None) -> None:
    """Send a test event. The service must be running."""
    from .managing import send_ping

    delivery = send_ping(open_existing(data, config).store, COMMAND_LINE, webhook)
    report(f"The test event {delivery.id} is queued.")


@webhooks.command()
def deliveries(
    webhook: Id,
    limit: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of deliveries, up to 1,000.")
    ] = 20,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """List sent and pending deliveries of a webhook, newest first."""
    from .managing import show_webhook
    from .model import shown_delivery

    store = open_existing(data, config).store
    _, found, _ = show_webhook(store, COMMAND_LINE, webhook, 1, limit)
    if as_json:
        print(json.dumps([shown_delivery(it) for it in found], indent=2))  # noqa: T201
    elif found:
        print("\n".join(map(_delivery_line, found)))  # noqa: T201
    else:
        report("No deliveries yet.")


@webhooks.command()
def replay(
    webhook: Id,
    delivery: Annotated[
        str, typer.Argument(metavar="DELIVERY", help="The delivery's id, shown by deliveries.")
    ],
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Send a delivery again, with the same id. The service must be running."""
    from .managing import replay_delivery

    replay_delivery(open_existing(data, config).store, COMMAND_LINE, webhook, delivery)
    report(f"The delivery {delivery} is queued.")


def _print_issued(issued: "IssuedWebhook", *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(issued.shown, indent=2))  # noqa: T201
        return
    report(f"Webhook {issued.webhook.id}. Its secret is shown only once:")
    print(issued.secret)  # noqa: T201


def _webhook_line(webhook: "Webhook") -> str:
    state = "enabled"
    if webhook.disabled_at is not None:
        state = f"disabled ({webhook.disabled_reason})"
    elif webhook.failing_since is not None:
        state = "failing"
    types = ",".join(webhook.types) or "every event"
    return "  ".join([webhook.id, webhook.scope or "(catalog)", webhook.url, types, state])


def _delivery_line(delivery: "Delivery") -> str:
    from ..core.clock import from_ms

    parts = [f"{from_ms(delivery.queued_at):%Y-%m-%d %H:%M:%S}", delivery.id, delivery.type]
    parts += [delivery.state, f"attempts={delivery.attempts}"]
    parts += [delivery.error] if delivery.error else []
    return "  ".join(parts)
