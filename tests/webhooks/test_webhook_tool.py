"""`widget webhooks` against the real service, which sends to a real receiver."""

from collections.abc import Iterator

import pytest

from support.author import Author, add_account, token_of
from support.service import Service, running_service, wait_for
from tool.signed_tool import signed_tool
from tool.tool import Tool
from webhooks.receiver import Receiver
from widget_catalog.catalog.node.node import prepare_node

SETTINGS = {
    "WIDGET_CATALOG_WEBHOOK_HTTP": "true",
    "WIDGET_CATALOG_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "WIDGET_CATALOG_MAX_WEBHOOKS": "2",
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("service") / "data"
    node = prepare_node(data)
    for username in ("ann", "bob"):
        add_account(node, username)
    with running_service(data, environment=SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def ann(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Tool:
    return signed_tool(service, tmp_path_factory.mktemp("ann") / "home", "ann")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


def test_a_webhook_is_added_tried_followed_and_removed(
    service: Service, ann: Tool, receiver: Receiver
) -> None:
    assert ann.run("webhooks", "list").err == "There are no webhooks.\n"
    added = ann.json("webhooks", "add", receiver.url, "--type", "published")
    id_ = added["id"]
    shown = f"{id_}\tann\t{receiver.url}\tpublished\tenabled\n"
    assert ann.run("webhooks", "list", "--scope", "@ann").out == shown
    assert ann.run("webhooks", "log", id_).err == "No deliveries yet.\n"

    tried = ann.run("webhooks", "test", id_)
    assert (tried.code, tried.out) == (0, "")
    assert tried.err == "The test event was delivered. The receiver responded with 204.\n"
    assert receiver.received[0].is_signed_with(added["secret"])

    with Author(service.url, token_of(service, "ann")) as author:
        assert author.publish("ann/clock", "1.0.0").status_code == 200
    wait_for(lambda: receiver.types == ["ping", "published"])
    wait_for(lambda: ann.json("webhooks", "log", id_)["deliveries"][0]["state"] == "delivered")
    row, _ = ann.run("webhooks", "log", id_).out.splitlines()
    _, delivery, *rest = row.split("\t")
    assert rest == ["published", "delivered", "1", "The receiver responded with 204."]

    again = ann.run("webhooks", "replay", id_, delivery)
    follow = f"Follow it with:\n  widget webhooks log {id_}\n"
    assert again.err == f"The delivery {delivery} is queued again. {follow}"
    wait_for(lambda: len(receiver.received) == 3)
    assert receiver.received[1].id == receiver.received[2].id == delivery

    # It asks for confirmation, and there is no terminal.
    assert ann.run("webhooks", "remove", id_).code == 2
    assert ann.json("webhooks", "remove", id_, "--yes") == {"success": True, "id": id_}
    assert ann.json("webhooks", "list") == {"webhooks": []}


def test_a_receiver_that_fails_fails_the_test_event(ann: Tool, receiver: Receiver) -> None:
    receiver.respond = lambda _: 503
    added = ann.run("webhooks", "add", receiver.url)
    id_ = ann.json("webhooks", "list")["webhooks"][0]["id"]
    assert added.out.startswith("whsec_")
    assert f"Added webhook {id_} for ann. Try it with:\n  widget webhooks test {id_}" in added.err

    failed = ann.run("webhooks", "test", id_)
    assert failed.code == 1
    assert failed.err.startswith(
        "Error: The test event failed. The receiver responded with 503.\n       It will be retried."
    )
    assert ann.run("webhooks", "list").out.split("\t")[-1].startswith("failing since 2")
    assert ann.run("webhooks", "disable", id_).err == f"The webhook {id_} is disabled.\n"
    assert ann.run("webhooks", "list").out.endswith("\tdisabled: Disabled by ann.\n")
    refused = ann.run("webhooks", "test", id_)
    assert refused.code == 6
    assert "The webhook is disabled. Enable it first." in refused.err
    assert ann.json("webhooks", "enable", id_) == {"success": True, "id": id_}
    receiver.respond = lambda _: 204
    new = ann.run("webhooks", "rotate", id_).out.strip()
    assert ann.json("webhooks", "test", id_)["state"] == "delivered"
    assert receiver.received[-1].is_signed_with(new)
    assert ann.run("webhooks", "remove", id_, "-y").err == f"The webhook {id_} is removed.\n"


def test_what_is_refused_is_a_sentence_and_an_exit_code(service: Service, ann: Tool) -> None:
    wrong = ann.run("webhooks", "add", "ftp://hooks.example", "--type", "nothing")
    assert wrong.code == 1
    assert "url: must begin with https:// or http://." in wrong.err
    foreign = ann.run("webhooks", "add", "https://hooks.example", "--scope", "bob")
    assert foreign.code == 4
    # As from an unset variable: not the default.
    assert ann.run("webhooks", "add", "https://hooks.example", "--scope", "").code == 2
    assert ann.run("webhooks", "list", "--scope", "").code == 2
    missing = ann.run("webhooks", "log", "nothing")
    assert missing.code == 9
    assert missing.err == "Error: There is no such webhook.\n       Check the spelling.\n"
    assert ann.run("webhooks", "replay", "nothing", "none").code == 9
    token = {"WIDGET_TOKEN": token_of(service, "ann")}
    assert ann.run("webhooks", "list", environment=token).code == 4
    home = ann.home.parent / "outsider"
    home.mkdir()
    assert Tool(home, service.url).run("webhooks", "list").code == 3
