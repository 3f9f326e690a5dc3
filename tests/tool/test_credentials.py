"""Storage of secrets: private, always complete, and with one writer."""

import json
import stat
import sys
import types
from pathlib import Path

import pytest

from support.commands import Said
from support.scripted import Scripted, ScriptedServer
from tool.tool import Tool
from widget_cli.credentials import Credentials, SignIn
from widget_cli.errors import ToolError

URL, OTHER = "https://catalog.example", "https://other.example"
ANN = SignIn(username="ann", client_id="c", access_token="a", refresh_token="r", expires_at_s=9)
BOB = SignIn(username="bob", client_id="c", access_token="b", refresh_token="s", expires_at_s=9)


def save(credentials: Credentials, url: str, sign_in: SignIn) -> None:
    with credentials.writing() as writer:
        writer.save(url, sign_in, becomes_default=True)


@pytest.fixture
def credentials(tmp_path: Path) -> Credentials:
    return Credentials(tmp_path / "a" / "widget-cli")


def test_nothing_is_kept_at_first(credentials: Credentials) -> None:
    assert (credentials.find(URL), credentials.default_url) == (None, None)
    assert not credentials.folder.exists()


def test_a_sign_in_is_kept_for_its_owner_alone(credentials: Credentials) -> None:
    save(credentials, URL, ANN)
    assert credentials.find(URL) == ANN
    modes = [stat.S_IMODE(it.stat().st_mode) for it in (credentials.folder, credentials.file)]
    assert modes == [0o700, 0o600]
    kept = {it.name for it in credentials.folder.iterdir()}
    assert kept == {"credentials.json", "credentials.lock"}


def test_rights_that_are_too_wide_are_narrowed_by_the_next_save(credentials: Credentials) -> None:
    save(credentials, URL, ANN)
    credentials.file.chmod(0o644)
    credentials.folder.chmod(0o755)
    save(credentials, URL, BOB)
    modes = [stat.S_IMODE(it.stat().st_mode) for it in (credentials.folder, credentials.file)]
    assert modes == [0o700, 0o600]


def test_several_catalogs_are_kept_and_the_last_is_meant(credentials: Credentials) -> None:
    save(credentials, URL, ANN)
    save(credentials, OTHER, BOB)
    assert (credentials.default_url, credentials.urls) == (OTHER, [URL, OTHER])
    with credentials.writing() as writer:
        writer.remove(OTHER)
    assert (credentials.default_url, credentials.find(OTHER)) == (URL, None)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"catalogs": {"x": 1}}'])
def test_a_damaged_file_is_reported(credentials: Credentials, content: bytes) -> None:
    credentials.folder.mkdir(parents=True)
    credentials.file.write_bytes(content)
    with pytest.raises(ToolError, match="is damaged"):
        credentials.find(URL)


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolError, match="cannot be written"):
        save(Credentials(tmp_path / "file" / "widget-cli"), URL, ANN)


def test_with_the_keyring_the_file_holds_no_secret(
    credentials: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An in-process keyring replaces the system's, which does not exist in tests."""
    kept: dict[tuple[str, str], str] = {}
    ring = types.ModuleType("keyring")
    vars(ring).update(
        set_password=lambda service, url, secret: kept.update({(service, url): secret}),
        get_password=lambda service, url: kept.get((service, url)),
        delete_password=lambda service, url: kept.pop((service, url)),
    )
    monkeypatch.setitem(sys.modules, "keyring", ring)
    hidden = SignIn(
        username="ann", access_token="secret-a", refresh_token="secret-r", is_in_keyring=True
    )
    save(credentials, URL, hidden)
    assert "secret" not in credentials.file.read_text()
    assert credentials.find(URL) == hidden
    with credentials.writing() as writer:
        writer.remove(URL)
    assert kept == {}


def test_without_the_package_the_keyring_is_a_sentence(
    credentials: Credentials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(ToolError, match="a package is missing"):
        save(credentials, URL, SignIn(username="ann", is_in_keyring=True))
    assert credentials.find(URL) is None


def test_logout_tells_the_catalog_and_forgets(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("POST", "/api/auth/oauth2/revoke", Scripted(body={}))
    assert signed_in.run("logout") == Said(0, "", f"Signed out of {server.url}.\n")
    (told,) = server.of("POST", "/api/auth/oauth2/revoke")
    assert told.form() == {"token": "wcr_refresh-1", "client_id": "widget-cli"}
    assert json.loads((signed_in.config / "credentials.json").read_text())["catalogs"] == {}
    assert signed_in.run("logout").code == 3


def test_logout_works_without_the_catalog(signed_in: Tool, server: ScriptedServer) -> None:
    server.on("POST", "/api/auth/oauth2/revoke", Scripted(500, b""))
    said = signed_in.run("logout", "--all")
    assert said.code == 0
    assert "could not be reached" in said.err
    assert signed_in.run("whoami").code == 3


def test_logout_says_that_a_token_in_the_environment_still_signs_in(
    signed_in: Tool, server: ScriptedServer
) -> None:
    server.on("POST", "/api/auth/oauth2/revoke", Scripted(body={}))
    signed_in.environment["WIDGET_TOKEN"] = "wct_x"
    note = "Note: WIDGET_TOKEN is still set. To sign out completely: unset WIDGET_TOKEN\n"
    assert signed_in.run("logout") == Said(0, "", f"Signed out of {server.url}.\n{note}")
    assert signed_in.run("logout") == Said(
        3,
        "",
        f"Error: No sign-in to {server.url} is stored: you use WIDGET_TOKEN.\n"
        "       To sign out: unset WIDGET_TOKEN\n",
    )
    assert signed_in.run("logout", "--all") == Said(
        0, "", f"You were not signed in to any catalog.\n{note}"
    )
