"""`widget-catalog secrets`: new signing keys, while the service runs."""

import pytest

from support.people import BUNDLE, a_person
from support.service import run_command
from support.site import InProcessSite

pytestmark = pytest.mark.slow


def test_rotating_ends_upload_addresses_and_nothing_else(site: InProcessSite) -> None:
    olly = a_person(site, "olly", is_operator=True)
    requested = olly.request("olly/clock").json()
    again = olly.request("olly/other").json()
    assert olly.upload(again["uploadUrl"], BUNDLE).status == 200

    done = run_command("secrets", "rotate", "--data", str(site.node.folder.path))

    assert (done.returncode, done.stdout) == (0, b"")
    assert b"New signing keys are in use; no restart is needed." in done.stderr
    assert olly.upload(requested["uploadUrl"], BUNDLE).status == 403
    assert olly.confirm(again["versionId"]).status == 200
    assert olly.publish("olly/third").status == 200
    entries = olly.get("/api/audit").json()["entries"]
    assert ("rotate secrets", "operator") in {(it["action"], it["actor"]) for it in entries}


def test_help_says_what_it_ends() -> None:
    helped = run_command("secrets", "rotate", "--help", environment={"COLUMNS": "200"})

    assert helped.returncode == 0
    for said in (
        b"sign-ins in progress",
        b"Sessions, access tokens and passwords are not affected",
    ):
        assert said in helped.stdout
