"""A person, the tool, a browser and the real service: from nothing to published and yanked."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from support.commands import Said
from support.folders import empty_folder
from support.service import Service, running_service
from tool.terminal import typed
from tool.tool import PASSWORD, Tool, register
from widget_cli.credentials import Credentials


# On one worker, so that the browser is started once.
@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running_service(empty_folder(tmp_path / "data"), "--set", "registration=open") as running:
        yield running


def printed(started: subprocess.Popen[str], pattern: str) -> str:
    """The part of a waiting command's output that matches."""
    assert started.stderr is not None
    for line in started.stderr:
        if found := re.search(pattern, line):
            return found.group(1)
    raise AssertionError(f"Nothing like {pattern} was printed.")


def sign_in(page: Page, address: str, username: str) -> None:
    page.goto(address)
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def test_a_person_signs_in_with_a_browser_publishes_and_yanks(
    service: Service, tmp_path: Path, page: Page
) -> None:
    tool = Tool(tmp_path)
    with service.client() as client:
        register(client, "ann")
    tool.begin("clock")
    with tool.start("login", service.url, "--no-browser") as login:
        sign_in(page, printed(login, r"(http\S+/authorize\?\S+)"), "ann")
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("heading", name="Sign-in approved").wait_for()
        _, err = login.communicate(timeout=60)
    assert login.returncode == 0, err
    assert f"Signed in to {service.url} as ann.\n" in err

    published = tool.json("publish", "clock", "--yes")
    content = (tool.home / "clock" / "index.js").read_bytes()
    with service.client() as client:
        assert client.get("/api/v1/widgets/ann/clock").json()["latestVersion"] == "0.1.0"
        assert client.get(published["bundleUrl"]).content == content
        assert tool.run("yank", "ann/clock", "0.1.0", "--reason", "Broken.").code == 0
        assert client.get("/api/v1/widgets/ann/clock").json()["latestVersion"] is None
    (tool.home / "clock" / "index.js").write_bytes(content + b"// again\n")
    assert tool.run("publish", "clock", "--yes").code == 6

    with tool.start("tokens", "create", "ci", "--no-browser") as create:
        page.goto(printed(create, r"(http\S+/device\?\S+)"))
        page.get_by_role("button", name="Next").click()
        assert page.locator("p.code").inner_text() == printed(create, r"code (\S+)")
        page.get_by_role("button", name="Confirm").click()
        page.get_by_role("heading", name="Confirmed").wait_for()
        out, err = create.communicate(timeout=60)
    assert (create.returncode, out[:4]) == (0, "wct_"), err
    assert tool.run("org", "create", "acme").code == 0
    taken = tool.run("org", "create", "acme")
    sentence = "Error: The name acme is taken. Choose another.\n       Nothing was changed.\n"
    assert taken == Said(6, "", sentence)
    assert tool.run("org", "show", "acme").out.startswith("acme  acme\nann\towner\t")
    assert tool.json("publish", "clock", "--yes", "--scope", "acme")["scope"] == "acme"

    before = Credentials(tool.config).find(service.url)
    let_it_expire(tool)
    assert tool.run("whoami").out.startswith(f"ann (ann@example.org) at {service.url}\n")
    after = Credentials(tool.config).find(service.url)
    assert before is not None
    assert after is not None
    assert before.refresh_token != after.refresh_token
    closed = typed(tool, "account", "close", lines=["ann", PASSWORD])
    assert (closed.code, "Transfer" in closed.err) == (6, True)  # acme needs an owner.
    assert tool.run("logout").code == 0
    assert tool.run("whoami", "--catalog", service.url).code == 3


def test_a_person_signs_in_on_another_device(service: Service, tmp_path: Path, page: Page) -> None:
    tool = Tool(tmp_path)
    with service.client() as client:
        register(client, "ann")
    with tool.start("login", service.url, "--device") as login:
        address = printed(login, r"(http\S+)")
        code = printed(login, r"code (\S+)")
        sign_in(page, address, "ann")
        page.get_by_label("Code").fill(code)
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Continue").click()
        _, err = login.communicate(timeout=60)
    assert login.returncode == 0, err
    assert tool.json("whoami")["username"] == "ann"

    wrong = typed(tool, "account", "password", lines=["wrong", "x" * 12, "x" * 12])
    assert (wrong.code, "The current password is wrong." in wrong.err) == (4, True)
    changed = typed(tool, "account", "password", lines=[PASSWORD, "x" * 12, "x" * 12])
    assert changed.code == 0, changed
    assert tool.run("whoami", "--catalog", service.url).code == 3


def let_it_expire(tool: Tool) -> None:
    file = tool.config / "credentials.json"
    file.write_text(re.sub(r'("expiresAtS": )\d+', r"\g<1>0", file.read_text()))
