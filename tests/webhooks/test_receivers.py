"""Misbehaving receivers: their names, addresses, certificates and responses."""

import socket
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from support.service import wait_for
from webhooks.certificates import Authority
from webhooks.receiver import Receiver
from webhooks.sending_catalog import Post
from widget_catalog.webhooks import sending
from widget_catalog.webhooks.model import Outcome
from widget_catalog.webhooks.scheduling import new_delivery
from widget_catalog.webhooks.sending import NameLookups, create_tls_context
from widget_catalog.webhooks.settings import WebhookSettings

NOT_REACHED = "The host name is unknown, or leads to an address that is not allowed."


@pytest.fixture
def authority(post: Post, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """A certificate authority that the service trusts."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    post.tls = create_tls_context()
    return made


def error_of(post: Post, url: str, key: str = "acme/clock") -> str | None:
    """Why the first delivery to this URL fails."""
    hook = post.hook(url).webhook
    post.publish(key)
    post.work()
    (delivery,) = post.deliveries(hook.id)
    assert (delivery.state, delivery.attempts, delivery.status) == ("waiting", 1, None)
    return delivery.error


def test_a_receiver_whose_certificate_is_trusted_is_sent_to(
    post: Post, authority: Authority
) -> None:
    with Receiver(tls=authority.server("127.0.0.1")) as receiver:
        hook = post.hook(receiver.url)
        post.publish("acme/clock")
        post.work()

    (got,) = receiver.received
    assert got.is_signed_with(hook.secret)
    assert [it.state for it in post.deliveries(hook.webhook.id)] == ["delivered"]


def test_a_certificate_of_another_host_is_refused(post: Post, authority: Authority) -> None:
    with Receiver(tls=authority.server("hooks.example")) as receiver:
        error = error_of(post, receiver.url)
    assert error == (
        "The certificate is not accepted: "
        "IP address mismatch, certificate is not valid for '127.0.0.1'."
    )
    assert receiver.received == []


def test_a_certificate_that_has_expired_is_refused(post: Post, authority: Authority) -> None:
    with Receiver(tls=authority.server("127.0.0.1", -timedelta(days=1))) as receiver:
        error = error_of(post, receiver.url)
    assert error == "The certificate is not accepted: certificate has expired."
    assert receiver.received == []


def test_a_certificate_of_an_unknown_authority_is_refused(
    post: Post, authority: Authority, tmp_path: Path
) -> None:
    del authority
    with Receiver(tls=Authority(tmp_path, "Unknown").server("127.0.0.1")) as receiver:
        error = error_of(post, receiver.url)
    assert error == "The certificate is not accepted: unable to get local issuer certificate."
    assert receiver.received == []


def test_a_receiver_that_speaks_no_tls_gets_nothing(post: Post, authority: Authority) -> None:
    del authority
    with Receiver() as receiver:
        error = error_of(post, receiver.url.replace("http:", "https:"))
    assert error == "TLS failed."
    assert receiver.received == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1"])
def test_a_name_that_leads_into_a_private_network_is_not_connected_to(
    post: Post, receiver: Receiver, host: str
) -> None:
    issued = post.hook(receiver.url)
    hook = issued.webhook._replace(url=receiver.url.replace("127.0.0.1", host))
    post.settings = WebhookSettings(webhook_http=True)
    ping = new_delivery("msg_1", hook.id, None, "ping", "{}", 0)
    (outcome,) = post.send(hook, [issued.secret], [ping])
    assert receiver.received == []
    assert outcome == Outcome(ping, error=NOT_REACHED)


def test_an_unknown_name_fails_like_one_of_an_internal_network(post: Post) -> None:
    def resolve(host: str, _: int) -> list[str]:
        if host == "unknown.example":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ["10.0.0.7"]

    post.lookups = NameLookups(resolve)
    errors = [
        error_of(post, f"https://{host}/", f"acme/{number}")
        for number, host in enumerate(("unknown.example", "wiki.corp.example"))
    ]
    assert errors == [NOT_REACHED] * 2


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(
    post: Post, receiver: Receiver
) -> None:
    responses = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"]]
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return responses[len(asked) - 1]

    post.lookups = NameLookups(resolve)
    post.settings = WebhookSettings(webhook_http=True, webhook_networks="127.0.0.1/32")
    private = ("127.0.0.2", receiver.port)
    with Receiver(address=private) as inside:
        hook = post.hook(f"http://rebound.example:{receiver.port}/").webhook
        post.publish("acme/a", "acme/b")
        post.work()  # Both deliveries use one connection, so the name is resolved once.
        assert len(asked) == 1
        assert [it.headers["host"] for it in receiver.received] == [
            f"rebound.example:{receiver.port}"
        ] * 2

        post.publish("acme/c")
        # The name now resolves to another address: first alone, then in addition to the old one.
        for attempts in (1, 2):
            post.work()
            last = post.deliveries(hook.id)[0]
            assert (last.attempts, len(asked)) == (attempts, attempts + 1)
            assert last.error == NOT_REACHED
            post.clock.forward(minutes=10)
    assert inside.received == []
    assert len(receiver.received) == 2


def test_a_dead_name_server_holds_up_no_other_scope(
    post: Post, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_LOOKUP_S", 1.0)
    is_back = threading.Event()
    asked = []

    def resolve(host: str, _: int) -> list[str]:
        if host.endswith(".dead.example"):
            asked.append(host)
            is_back.wait(120)
        return ["127.0.0.1"]

    post.lookups = NameLookups(resolve)
    post.publish("acme/before", "other/before")  # Creates both scopes.
    hooks = [
        post.hook(f"http://w{number}.dead.example:{receiver.port}/", "acme").webhook
        for number in range(10)
    ]
    post.hook(f"http://hooks.example:{receiver.port}/", "other")
    post.publish("acme/clock", "other/clock")

    post.scheduler.run_round()
    wait_for(lambda: receiver.received)  # While the lookups of acme hang.
    assert [it.json()["data"]["id"] for it in receiver.received] == ["other/clock"]

    post.work()
    errors = [it.error for hook in hooks for it in post.deliveries(hook.id)]
    assert sorted(map(str, errors)) == [
        *["The host name was not resolved within 1 seconds."] * 4,
        *["Too many host names wait to be resolved."] * 6,
    ]
    assert len(asked) == 4

    is_back.set()
    post.clock.forward(minutes=10)
    post.work()
    assert len(receiver.received) == 11


def test_a_receiver_that_responses_without_end_is_cut_off(post: Post) -> None:
    listener = socket.create_server(("127.0.0.1", 0))

    def flood() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            try:
                connection.sendall(b"HTTP/1.1 500 No\r\n\r\n")
                while True:
                    connection.sendall(b"x" * 65536)
            except OSError:
                pass

    threading.Thread(target=flood, daemon=True).start()
    hook = post.hook(f"http://127.0.0.1:{listener.getsockname()[1]}/").webhook
    post.publish("acme/clock")
    post.work()
    assert post.deliveries(hook.id)[0].error == "The answer could not be read."
    listener.close()
