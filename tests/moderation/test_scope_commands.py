"""`widget-catalog scope …`, and who is an operator, in separate processes."""

import json
from pathlib import Path

import pytest

from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.widgets import widget_line

PASSWORD = "correct horse battery"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    lines = (
        widget_line("acme/clock", downloadCount=9_000),
        widget_line("acme/dice", downloadCount=555),
        widget_line("acme/notes"),
        widget_line("zoo/clock", downloadCount=1),
    )
    return filled_folder(tmp_path / "data", *lines)


def create(data: Path, name: str, *more: str) -> Said:
    given = ("--email", f"{name}@example.org", "--password-stdin", "--data", data)
    return widget_catalog("account", "create", name, *given, *more, stdin=f"{PASSWORD}\n".encode())


def test_scopes_without_an_owner_are_listed_and_assigned(data: Path) -> None:
    assert create(data, "ann").code == 0

    listed = widget_catalog("scope", "list", "--ownerless", "--data", data)
    as_json = widget_catalog("scope", "list", "--ownerless", "--json", "--data", data)
    assigned = widget_catalog("scope", "assign", "acme", "ann", "--data", data)
    again = widget_catalog("scope", "assign", "acme", "ann", "--data", data)
    left = widget_catalog("scope", "list", "--ownerless", "--data", data)
    taken = widget_catalog("scope", "list", "--data", data)

    acme, zoo = "acme  3 widgets with 9,555 installs\n", "zoo   1 widget with 1 install\n"
    assert listed == Said(0, acme + zoo, "")
    assert json.loads(as_json.out)[0] == {"name": "acme", "widgets": 3, "installs": 9_555}
    told = "acme (3 widgets with 9,555 installs) is now an organization owned by ann.\n"
    assert assigned == Said(0, "", told)
    error = "The scope acme belongs to the organization acme. Owners can transfer it."
    assert again == Said(1, "", f"Error: {error}\n")
    assert left.out == "zoo  1 widget with 1 install\n"
    assert taken.out == "acme  organization\nann   personal\n"


def test_accounts_are_made_operators_and_the_last_one_stays(data: Path) -> None:
    for name in ("ann", "olly"):
        assert create(data, name, *(["--operator"] if name == "olly" else [])).code == 0

    def change(how: str, name: str) -> Said:
        return widget_catalog("account", how, name, "--data", data)

    last = "olly is the last operator who can sign in. Make another account an operator first."
    assert change("demote", "olly") == Said(1, "", f"Error: {last}\n")
    assert change("promote", "ann") == Said(0, "", "ann is now an operator.\n")
    assert change("promote", "ann") == Said(1, "", "Error: ann is already an operator.\n")
    assert change("demote", "olly") == Said(0, "", "olly is no longer an operator.\n")
    assert change("promote", "zoe") == Said(1, "", "Error: There is no account 'zoe'.\n")


def test_an_account_takes_over_widgets_only_when_told_to(data: Path) -> None:
    refused = create(data, "acme")
    made = create(data, "acme", "--adopt")

    assert refused == Said(
        1,
        "",
        "Error: The scope acme has no owner, but 3 widgets with 9,555 installs. To give them to "
        "this account, add --adopt; to give them to another: widget-catalog scope assign acme "
        "ACCOUNT.\n",
    )
    assert made == Said(0, "", "Created the account acme. It owns 3 widgets with 9,555 installs.\n")
