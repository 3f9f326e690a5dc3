"""`widget-catalog account …`: accounts; `widget-catalog secrets …`: the signing keys."""

import getpass
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    JsonOption,
    command_group,
    command_node,
    existing_node,
    fail,
    open_existing,
    report,
)
from ..core.load_settings import load_settings
from .settings import AccountSettings

if TYPE_CHECKING:
    from ..catalog.node.node import Node
    from ..core.settings import Settings

accounts = command_group("account", "Manage accounts.")
secrets = command_group("secrets", "Manage the signing keys of this catalog.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="The username.")]
PasswordFromInput = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from standard input.")
]


@accounts.command()
def create(
    name: Name,
    email: Annotated[str, typer.Option(help="The e-mail address.")],
    password_stdin: PasswordFromInput = False,
    operator: Annotated[
        bool,
        typer.Option("--operator", help="Create an operator, who can manage the whole catalog."),
    ] = False,
    allow_reserved: Annotated[
        bool, typer.Option("--allow-reserved", help="Allow a reserved name, such as staff.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Give it the widgets in its scope, if they have no owner."),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Create an account. Its name is also its scope.

    Widgets that were imported into that scope belong to the account only with --adopt.
    """
    from ..catalog.store.scopes import find_ownerless_scope
    from .create_account import create_account

    settings = load_settings({"data": data}, config)
    if name in settings.of(AccountSettings).reserved and not allow_reserved:
        fail(f"The name {name} is reserved. Choose another, or use --allow-reserved.")
    password = _password(password_stdin)
    # The folder may be new: accounts can be created before the first start.
    store = command_node(settings).store
    with store.reading() as connection:
        found = find_ownerless_scope(connection, name)
    if found is not None and not adopt:
        fail(
            f"The scope {name} has no owner, but {found.summary}. To give them to this account, "
            f"add --adopt; to give them to another: widget-catalog scope assign {name} ACCOUNT."
        )
    account = create_account(
        store, name, email, password, is_operator=operator, adopts=adopt, reserved=frozenset()
    )
    adopted = f" It owns {found.summary}." if found is not None else ""
    report(f"Created the account {account.username}{' (operator)' if operator else ''}.{adopted}")


@accounts.command("list")
def list_(
    as_json: JsonOption = False, data: DataOption = None, config: ConfigOption = None
) -> None:
    """List all accounts."""
    from ..core.clock import iso
    from .second_factor.store import list_accounts_with_factor
    from .store import list_accounts

    with open_existing(data, config).store.reading() as connection:
        found = list_accounts(connection)
        secured = list_accounts_with_factor(connection)
    if as_json:
        shown = [
            {
                "username": account.username,
                "email": account.email,
                "isOperator": account.is_operator,
                "isDisabled": account.is_disabled,
                "createdAt": iso(account.created_at),
                "hasSecondFactor": account.id in secured,
            }
            for account in found
        ]
        print(json.dumps(shown, indent=2))  # noqa: T201
        return
    width = max((len(account.username) for account in found), default=0)
    for account in found:
        marks = {
            "operator": account.is_operator,
            "closed": account.is_closed,
            "disabled": account.is_disabled and not account.is_closed,
            "second factor": account.id in secured,
        }
        marked = ", ".join(mark for mark, is_so in marks.items() if is_so)
        line = f"{account.username:<{width}}  {account.email}"
        print(f"{line}  ({marked})" if marked else line)  # noqa: T201


@accounts.command()
def disable(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Block an account and end its sessions. Its widgets remain."""
    from .administer_account import set_disabled

    set_disabled(open_existing(data, config).store, name, is_disabled=True)
    report(f"{name} is blocked, and signed out everywhere.")


@accounts.command()
def enable(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Unblock an account."""
    from .administer_account import set_disabled

    set_disabled(open_existing(data, config).store, name, is_disabled=False)
    report(f"{name} can sign in again.")


@accounts.command()
def promote(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Make an account an operator, who can manage the whole catalog."""
    from .administer_account import appoint_operator

    appoint_operator(open_existing(data, config).store, name)
    report(f"{name} is now an operator.")


@accounts.command()
def demote(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Remove operator rights from an account. It keeps its scopes and widgets.

    The last operator who can sign in cannot be demoted.
    """
    from .administer_account import dismiss_operator

    dismiss_operator(open_existing(data, config).store, name)
    report(f"{name} is no longer an operator.")


@accounts.command("reset-password")
def reset_password_(
    name: Name,
    password_stdin: PasswordFromInput = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Set a new password and end all sessions of the account."""
    from .administer_account import reset_password

    node = open_existing(data, config)
    reset_password(node.store, name, _password(password_stdin))
    report(f"{name} has a new password, and is signed out everywhere.")


@accounts.command("reset-second-factor")
def reset_second_factor_(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Remove the passkeys, authenticator app and recovery codes of an account.

    For a person who has lost their phone or key. Verify their identity first: afterwards the
    password alone signs them in.
    """
    from .administer_account import reset_second_factor

    reset_second_factor(open_existing(data, config).store, name)
    report(f"{name} no longer has a second factor, and is signed out everywhere.")


@accounts.command("invite")
def invite_(
    email: Annotated[
        str | None, typer.Option(help="A note: who the invitation is for.", show_default=False)
    ] = None,
    operator: Annotated[bool, typer.Option("--operator", help="Invite an operator.")] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Print an invitation link to create one account, valid for a week."""
    from .create_account import AUTHOR, OPERATOR, invite

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    secret = invite(node.store, OPERATOR if operator else AUTHOR, email)
    address, source = _address(settings, node)
    report(
        f"The link assumes that people reach the service at {address} ({source}). If "
        "it is another URL, set base_url as for serve (WIDGET_CATALOG_BASE_URL, or --config), or "
        "edit the link."
    )
    print(f"{address}/join?invitation={secret}")  # noqa: T201


@secrets.command()
def rotate(data: DataOption = None, config: ConfigOption = None) -> None:
    """Create new signing keys. The service may be running, and uses them immediately.

    Invalidates sign-ins in progress, and upload URLs of files that are not uploaded yet.
    Sessions, access tokens and passwords are not affected. Keys are also rotated automatically
    every day, which invalidates nothing.
    """
    from ..catalog.node.opening import open_keys
    from ..catalog.store.events import append
    from ..core.actors import COMMAND_LINE
    from .events import SecretsRotated

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    keys = open_keys(node.folder, node.store, settings)
    with node.store.writing() as tx:
        append(tx, COMMAND_LINE, SecretsRotated())
        keys.rotate()
    report(
        "New signing keys are in use; no restart is needed. Sign-ins and uploads "
        "in progress have to be started again."
    )


def _address(settings: "Settings", node: "Node") -> tuple[str, str]:
    """The public URL of the service, and where it comes from."""
    from ..core.data_folder import FolderInUse, ServiceLock

    if settings.base_url:
        return settings.public_url, "base_url"
    try:
        ServiceLock(node.folder.path, node.folder.service_lock).check()
    except FolderInUse as running:
        if running.service is not None:
            return running.service.address, f"the running service, process {running.service.pid}"
    return settings.public_url, "host and port, as base_url is not set"


def _password(from_input: bool) -> str:
    if from_input:
        try:
            return sys.stdin.buffer.readline().decode().rstrip("\r\n")
        except UnicodeDecodeError:  # It could not be typed in any sign-in form.
            fail("The password must be UTF-8 text.")
    if not sys.stdin.isatty():
        fail("Pass the password on standard input, with --password-stdin.")
    first, again = getpass.getpass("Password: "), getpass.getpass("Again: ")
    if first != again:
        fail("The passwords do not match.")
    return first
