"""The operator's commands about accounts and published widgets, in separate processes."""

import json
import os
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.service import running_service
from support.widgets import version_line, widget_line
from widget_catalog.accounts.second_factor.store import find_factors, put_app, set_recovery_codes
from widget_catalog.accounts.store import add_session, find_session
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.catalog.store.audit import list_entries

PASSWORD = "correct horse battery"
TWO = [version_line("1.0.0"), version_line("1.1.0", publishedAt="2026-02-01T00:00:00.000Z")]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With accounts of the operator and of ann, who owns what was imported into her scope."""
    clock = widget_line("ann/clock", versions=TWO, isOfficial=None)
    data = filled_folder(tmp_path_factory.mktemp("shop") / "data", clock)
    owns = "It owns 1 widget with 0 installs."
    assert create(data, "ann", "--adopt") == Said(0, "", f"Created the account ann. {owns}\n")
    made = create(data, "olly", "--operator")
    assert made == Said(0, "", "Created the account olly (operator).\n")
    return data


def create(data: Path, name: str, *more: str, password: str = PASSWORD) -> Said:
    email = ("--email", f"{name}@example.org")
    given = ("--password-stdin", "--data", data)
    return widget_catalog(
        "account", "create", name, *email, *more, *given, stdin=f"{password}\n".encode()
    )


def sign_in(client: httpx.Client, name: str, password: str = PASSWORD) -> httpx.Response:
    client.cookies.clear()
    return client.post("/api/auth/sign-in", json={"username": name, "password": password})


def detail(client: httpx.Client) -> Any:
    return client.get("/api/v1/widgets/ann/clock").json()


def test_a_new_folder_may_begin_with_an_account(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"

    assert create(data, "zoe").code == 0
    listed = widget_catalog("account", "list", "--data", data)
    assert listed == Said(0, "zoe  zoe@example.org\n", "")


def test_accounts_are_listed_for_people_and_for_scripts(shop: Path) -> None:
    said = widget_catalog("account", "list", "--data", shop)
    as_json = widget_catalog("account", "list", "--json", "--data", shop)

    assert said == Said(0, "ann   ann@example.org\nolly  olly@example.org  (operator)\n", "")
    ann, olly = json.loads(as_json.out)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", ann.pop("createdAt"))
    assert ann == {
        "username": "ann",
        "email": "ann@example.org",
        "isOperator": False,
        "isDisabled": False,
        "hasSecondFactor": False,
    }
    assert (olly["username"], olly["isOperator"]) == ("olly", True)


@pytest.mark.parametrize(
    ("name", "email", "password", "sentence"),
    [
        ("ann", "x@example.org", PASSWORD, "The name ann is taken. Choose another."),
        ("zoe", "ANN@example.org", PASSWORD, "There is an account with the e-mail address "),
        ("admin", "x@example.org", PASSWORD, "The name admin is reserved. Choose another, or "),
        ("Zoe", "x", "short", "'Zoe' cannot be a name here: "),
        ("zoe", "x@example.org", "", "The password is too short: "),
        ("zoe", "[red]x@example.org[/red] ", PASSWORD, "'[red]x@example.org[/red] ' is not an "),
    ],
)
def test_an_account_that_cannot_be_made_is_explained(
    shop: Path, name: str, email: str, password: str, sentence: str
) -> None:
    said = widget_catalog(
        "account", "create", name, "--email", email, "--password-stdin", "--data", shop,
        stdin=f"{password}\n".encode(),
    )  # fmt: skip

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: {sentence}")


def test_a_lost_second_factor_is_reset_and_everybody_is_signed_out(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert create(data, "ann").code == 0
    node = prepare_node(data)
    with node.store.writing() as tx:
        put_app(tx, 1, "sealed", 0)
        set_recovery_codes(tx, 1, ["hash"])
        add_session(tx, "one", "hash", 1, tx.at_ms + 1_000_000)

    listed = widget_catalog("account", "list", "--data", data)
    said = widget_catalog("account", "reset-second-factor", "ann", "--data", data)
    again = widget_catalog("account", "reset-second-factor", "ann", "--data", data)

    assert listed.out == "ann  ann@example.org  (second factor)\n"
    told = "ann no longer has a second factor, and is signed out everywhere.\n"
    assert said == Said(0, "", told)
    assert again == Said(1, "", "Error: ann has no second factor.\n")
    with node.store.reading() as connection:
        assert find_factors(connection, 1) == ((), None, 0)
        assert find_session(connection, "hash") is None
        entries, _ = list_entries(connection, "ann", None, 1, 1)
    node.store.close()
    assert (entries[0].action, entries[0].via) == ("reset second factor", "command")


def test_a_password_is_never_waited_for_where_nobody_is(shop: Path) -> None:
    for command in (["create", "zoe", "--email", "z@example.org"], ["reset-password", "ann"]):
        said = widget_catalog("account", *command, "--data", shop)
        assert said == Said(
            1, "", "Error: Pass the password on standard input, with --password-stdin.\n"
        )


def test_a_password_that_is_no_text_is_refused_in_a_sentence(shop: Path) -> None:
    said = widget_catalog(
        "account", "reset-password", "ann", "--password-stdin", "--data", shop,
        stdin=b"\xff\xfe long enough to be one\n",
    )  # fmt: skip

    assert said == Said(1, "", "Error: The password must be UTF-8 text.\n")


def test_a_password_may_hold_anything_but_the_end_of_the_line(tmp_path: Path) -> None:
    data, password = tmp_path / "data", " pass wörd\t🕰 \\ ' \" $x "
    assert create(data, "zoe", password=password).code == 0

    with running_service(data) as service, service.client() as client:
        assert sign_in(client, "zoe", password).status_code == 200
        assert sign_in(client, "zoe", password.strip()).status_code == 401


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["account", "disable", "gone"], "There is no account 'gone'."),
        (["account", "enable", os.fsdecode(b"\xff")], "There is no account '\\udcff'."),
        (["scope", "reserve", "ann"], "The name ann is taken. Choose another."),
        (["widget", "unlist", "ann/gone"], "There is no widget ann/gone."),
        (["widget", "official", "../.."], "'..' is not a scope: "),
        (["version", "yank", "ann/clock", "9.9.9", "--reason", "x"], "There is no version '9.9.9'"),
        (
            ["version", "yank", "ann/clock", "1.0.0", "--reason", "a\nb"],
            "reason: contains the char",
        ),
        (["version", "unyank", "ann/clock", os.fsdecode(b"\xff")], "There is no version '\\udcff'"),
    ],
)
def test_what_cannot_be_done_is_reported_in_a_sentence(
    shop: Path, command: list[str], sentence: str
) -> None:
    said = widget_catalog(*command, "--data", shop)

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: {sentence}")


@pytest.mark.parametrize(
    "command",
    [["account", "invite"], ["version", "unyank", "a/b", "1.0.0"]],
)
def test_no_catalog_is_made_by_looking_for_one(tmp_path: Path, command: list[str]) -> None:
    said = widget_catalog(*command, "--data", tmp_path / "none")

    assert said == Said(1, "", f"Error: There is no data folder {tmp_path / 'none'}.\n")
    assert not (tmp_path / "none").exists()


def test_a_yank_must_say_why(shop: Path) -> None:
    said = widget_catalog("version", "yank", "ann/clock", "1.0.0", "--data", shop)

    assert (said.code, said.out) == (2, "")
    assert "--reason" in said.err


def test_what_the_operator_does_with_people_holds_at_once_while_the_service_runs(
    shop: Path,
) -> None:
    inviting = {"WIDGET_CATALOG_REGISTRATION": "invitation"}
    with running_service(shop, environment=inviting) as service, service.client() as client:
        ann = {"Cookie": f"session={sign_in(client, 'ann').cookies['session']}"}
        client.cookies.clear()

        def is_in() -> bool:
            return client.get("/api/auth/session", headers=ann).status_code == 200

        assert is_in()
        said = widget_catalog("account", "disable", "ann", "--data", shop)
        assert said == Said(0, "", "ann is blocked, and signed out everywhere.\n")
        assert not is_in()
        assert sign_in(client, "ann").status_code == 401
        assert "(disabled)" in widget_catalog("account", "list", "--data", shop).out
        said = widget_catalog("account", "enable", "ann", "--data", shop)
        assert said == Said(0, "", "ann can sign in again.\n")
        ann = {"Cookie": f"session={sign_in(client, 'ann').cookies['session']}"}
        client.cookies.clear()
        assert is_in()

        said = widget_catalog(
            "account", "reset-password", "ann", "--password-stdin", "--data", shop,
            stdin=b"another long password\n",
        )  # fmt: skip
        assert said == Said(0, "", "ann has a new password, and is signed out everywhere.\n")
        assert not is_in()
        assert sign_in(client, "ann").status_code == 401
        assert sign_in(client, "ann", "another long password").status_code == 200
        client.cookies.clear()

        said = widget_catalog("scope", "reserve", "kept", "--data", shop)
        assert said == Said(0, "", "kept is reserved.\n")
        link = widget_catalog(
            "account", "invite", "--email", "zac@example.org", "--data", shop, environment=inviting
        )
        assert (link.code, link.err) == (
            0,
            (
                f"The link assumes that people reach the service at {service.url} (the running "
                f"service, process {service.process.pid}). If it is another URL, set base_url as "
                "for serve (WIDGET_CATALOG_BASE_URL, or --config), or edit the link.\n"
            ),
        )
        place, _, secret = link.out.strip().partition("?invitation=")
        assert place == f"{service.url}/join"
        body = {"username": "kept", "email": "zac@example.org", "password": PASSWORD}
        body["invitation"] = secret
        assert client.post("/api/auth/register", json=body).status_code == 409
        zac = client.post("/api/auth/register", json=body | {"username": "zac"})
        assert (zac.status_code, zac.json()["isOperator"]) == (201, False)
        assert client.post("/api/auth/register", json=body).status_code == 403


def test_an_invited_operator_is_one(shop: Path) -> None:
    said = widget_catalog("account", "invite", "--operator", "--data", shop)
    assert said.err.startswith(
        "The link assumes that people reach the service at http://127.0.0.1:8080 (host and port, "
        "as base_url is not set). "
    )
    link = said.out.strip()
    with running_service(shop) as service, service.client() as client:
        body = {"username": "oona", "email": "oona@example.org", "password": PASSWORD}
        body["invitation"] = link.partition("?invitation=")[2]
        assert client.post("/api/auth/register", json=body).json()["isOperator"] is True


def test_a_bundle_is_revoked_everywhere_after_the_operator_agreed_to_what_that_hits(
    tmp_path: Path,
) -> None:
    (tmp_path / "same.js").write_bytes(b"export function mount() {}\n")
    here = {"bundleFile": "same.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    version = {**version_line(), **here}
    lines = [widget_line(key, versions=[version]) for key in ("labs/one", "labs/two")]
    shop = filled_folder(tmp_path / "data", *lines, base_folder=tmp_path)
    revoke = ("version", "revoke", "labs/one", "1.0.0", "--reason", "Bad.", "--everywhere")

    asked = widget_catalog(*revoke, "--data", shop)
    assert (asked.code, asked.out) == (1, "")
    assert asked.err == (
        "labs/one 1.0.0 would be revoked, and so would be labs/two 1.0.0. Nobody could publish "
        "this bundle again. Nothing was changed: to agree, add --yes.\n"
    )
    assert widget_catalog(*revoke, "--yes", "--data", shop).err == (
        "labs/one 1.0.0 is revoked.\nlabs/two 1.0.0 is revoked.\n"
        "Nobody can publish this bundle again.\n"
    )


def test_what_the_operator_does_with_widgets_is_shown_at_once_while_the_service_runs(
    shop: Path,
) -> None:
    def run(*command: str) -> str:
        said = widget_catalog(*command, "--data", shop)
        assert (said.code, said.out) == (0, ""), said
        return said.err

    with running_service(shop) as service, service.client() as client:
        assert detail(client)["latestVersion"] == "1.1.0"
        told = run("version", "yank", "@ann/clock", "1.1.0", "--reason", "Broken.")
        assert told == "@ann/clock 1.1.0 is yanked.\n"
        assert detail(client)["latestVersion"] == "1.0.0"
        assert detail(client)["versions"][0]["yankedReason"] == "Broken."
        assert run("version", "unyank", "ann/clock", "1.1.0") == (
            "ann/clock 1.1.0 is offered again.\n"
        )
        assert detail(client)["latestVersion"] == "1.1.0"

        revoke = ("version", "revoke", "ann/clock", "1.1.0", "--reason", "Malware.")
        assert run(*revoke) == "ann/clock 1.1.0 is revoked.\n"
        assert detail(client)["latestVersion"] == "1.0.0"
        (revoked,) = client.get("/api/v1/widgets/revocations").json()["revocations"]
        assert (revoked["id"], revoked["reason"]) == ("ann/clock", "Malware.")
        assert run("version", "unrevoke", "ann/clock", "1.1.0") == (
            "ann/clock 1.1.0 is no longer revoked.\n"
        )
        assert client.get("/api/v1/widgets/revocations").json()["revocations"] == []

        assert run("widget", "unlist", "ann/clock", "--reason", "Spam.") == (
            "ann/clock is no longer listed.\n"
        )
        assert client.get("/api/v1/widgets/ann/clock").status_code == 404
        assert client.get("/api/v1/widgets/search").json()["total"] == 0
        assert run("widget", "list", "ann/clock") == "ann/clock is listed.\n"
        assert client.get("/api/v1/widgets/search").json()["total"] == 1

        assert run("widget", "official", "ann/clock") == "ann/clock is official.\n"
        assert detail(client)["widget"]["isOfficial"] is True
        assert run("widget", "official", "ann/clock", "--no") == "ann/clock is not official.\n"
        assert detail(client)["widget"]["isOfficial"] is False

        sign_in(client, "olly")
        log = client.get("/api/widgets/ann/clock/audit").json()["entries"]
    assert [(it["action"], it["version"], it["details"]) for it in log] == [
        ("make unofficial", None, {}),
        ("make official", None, {}),
        ("list", None, {}),
        ("unlist", None, {"reason": "Spam."}),
        ("unrevoke", "1.1.0", {}),
        ("revoke", "1.1.0", {"reason": "Malware."}),
        ("unyank", "1.1.0", {}),
        ("yank", "1.1.0", {"reason": "Broken."}),
    ]
    assert {(it["actor"], it["via"]) for it in log} == {("operator", "command")}


def test_the_operator_reads_the_audit_log(shop: Path) -> None:
    with running_service(shop) as service, service.client() as client:
        assert sign_in(client, "olly").status_code == 200
    run = ("audit", "--scope", "olly", "--limit", "1", "--data", shop)

    line, document = widget_catalog(*run), widget_catalog(*run, "--json")

    (entry,) = json.loads(document.out)
    assert (entry["actor"], entry["action"], entry["address"]) == ("olly", "sign in", "127.0.0.1")
    session = entry["details"]["session"]
    at = entry["at"][:19].replace("T", " ")
    assert line == Said(
        0, f'{at}  olly  sign in  from 127.0.0.1  way="password" session="{session}"\n', ""
    )


def test_a_name_is_made_free_if_nothing_is_published_under_it(shop: Path) -> None:
    def release(name: str) -> Said:
        return widget_catalog("scope", "release", name, "--data", shop)

    widget_catalog("scope", "reserve", "kept", "--data", shop)
    with running_service(shop) as service, service.client() as client:
        sign_in(client, "olly")
        token = client.get("/api/auth/session").json()["csrfToken"]
        body = {"slug": "empty", "displayName": "Empty"}
        made = client.post("/api/organizations", json=body, headers={"x-csrf-token": token})
        assert made.status_code == 201

    assert release("kept") == Said(0, "", "The name kept is now available to everyone.\n")
    assert release("empty") == Said(
        0, "", "The organization empty was removed. The name empty is now available to everyone.\n"
    )
    assert release("empty") == Said(1, "", "Error: The name empty is not taken.\n")
    assert release("ann").err.startswith("Error: ann is the name of an account.")
    assert release("A!").err.startswith("Error: 'A!' is not a scope:")
    assert widget_catalog("scope", "reserve", "staff", "--data", shop).code == 0
    assert release("staff").err == (
        "staff is still reserved by default; see the setting reserved_names.\n"
    )


def test_a_reserved_name_is_given_out_by_the_operator_alone_and_knowingly(shop: Path) -> None:
    def create(name: str, *options: str, **more: str) -> Said:
        return widget_catalog(
            "account", "create", name, "--email", f"{name}@example.org", "--password-stdin",
            *options, "--data", shop, stdin=PASSWORD.encode(),
            environment={f"WIDGET_CATALOG_{key.upper()}": it for key, it in more.items()},
        )  # fmt: skip

    assert create("staff") == Said(
        1,
        "",
        "Error: The name staff is reserved. Choose another, or use --allow-reserved.\n",
    )
    assert create("staff", "--allow-reserved").err == "Created the account staff.\n"
    assert create("megacorp", reserved_names="megacorp").code == 1
    assert create("team", reserved_names="-team").code == 0
