"""`widget-catalog scope …`; `version revoke` and `version unrevoke`."""

import json
from typing import Annotated

import typer

from ..accounts.settings import AccountSettings
from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    JsonOption,
    command_group,
    existing_node,
    open_existing,
    report,
)
from ..core.load_settings import load_settings
from ..publishing.commands import Key, Number, versions

scopes = command_group("scope", "Manage scopes, the namespaces that widgets are published in.")

Name = Annotated[str, typer.Argument(metavar="SCOPE", help="The scope.")]
_ALL = 1_000_000_000


@scopes.command("list")
def list_(
    ownerless: Annotated[
        bool, typer.Option("--ownerless", help="Only scopes that have widgets but no owner.")
    ] = False,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """List the names of accounts and organizations, and reserved names; or scopes without an owner.

    An import creates scopes that have no owner. To give them one, use scope assign.
    """
    from ..accounts.store import list_scopes
    from ..catalog.store.scopes import list_ownerless_scopes

    shown: list[dict[str, object]]
    with open_existing(data, config).store.reading() as connection:
        if ownerless:
            found, _ = list_ownerless_scopes(connection, 1, _ALL)
            lines = [(scope.name, scope.summary) for scope in found]
            shown = [
                {"name": scope.name, "widgets": scope.widgets, "installs": scope.installs}
                for scope in found
            ]
        else:
            taken, _ = list_scopes(connection, None, 1, _ALL)
            lines = [(scope.name, scope.kind) for scope in taken]
            shown = [{"name": scope.name, "kind": scope.kind} for scope in taken]
    if as_json:
        print(json.dumps(shown, indent=2))  # noqa: T201
        return
    width = max((len(name) for name, _ in lines), default=0)
    for name, about in lines:
        print(f"{name:<{width}}  {about}")  # noqa: T201


@scopes.command()
def assign(
    name: Name,
    account: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The new owner.")],
    display_name: Annotated[
        str,
        typer.Option(
            "--display-name", help="What people call the organization.", show_default="SCOPE"
        ),
    ] = "",
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Give a scope that has widgets but no owner to an account.

    The scope becomes an organization, which the account owns. It can invite others.
    """
    from .manage_scopes import assign_scope

    found = assign_scope(open_existing(data, config).store, name, account, display_name)
    report(f"{name} ({found.summary}) is now an organization owned by {account}.")


@scopes.command()
def reserve(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Reserve a name, so that no account or organization can use it."""
    from .manage_scopes import reserve_scope

    reserve_scope(open_existing(data, config).store, name)
    report(f"{name} is reserved.")


@scopes.command()
def release(name: Name, data: DataOption = None, config: ConfigOption = None) -> None:
    """Release a reserved name, or the name of an organization without published widgets.

    The organization is removed, with its memberships and invitations. The name of an account, or
    of a scope with published widgets, cannot be released.
    """
    from .manage_scopes import release_scope

    settings = load_settings({"data": data}, config)
    was = release_scope(existing_node(settings).store, name)
    ended = f"The organization {name} was removed. " if was == "organization" else ""
    if name in settings.of(AccountSettings).reserved:
        report(f"{ended}{name} is still reserved by default; see the setting reserved_names.")
    else:
        report(f"{ended}The name {name} is now available to everyone.")


@versions.command()
def revoke(
    widget: Key,
    number: Number,
    reason: Annotated[str, typer.Option(help="The reason, shown to users.")],
    everywhere: Annotated[
        bool,
        typer.Option(
            "--everywhere",
            help="Also revoke all other versions with the same bundle, and refuse to publish it "
            "again. Without --yes, only show which versions these are.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Agree to the versions shown.")] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Revoke a version that must not run. Dashboards unload it.

    It counts as yanked, and its bundle is no longer served. The files are kept for investigation.
    """
    from ..core.actors import COMMAND_LINE
    from .revoke_version import revoke_everywhere, revoke_version, view_same_bundle

    node = open_existing(data, config)
    what = (node.store, node.bundles, COMMAND_LINE, widget, number)
    if not everywhere:
        sharing = revoke_version(*what, reason)
        report(f"{widget} {number} is revoked.")
        if sharing:
            report(f"The same bundle is still offered as {', '.join(sharing)}.")
        return
    others = view_same_bundle(node.store, COMMAND_LINE, widget, number)
    also = f", and so would be {', '.join(others)}" if others else "; no other version has it"
    if not yes:
        report(
            f"{widget} {number} would be revoked{also}. Nobody could publish this bundle again. "
            "Nothing was changed: to agree, add --yes."
        )
        raise typer.Exit(1)
    revoke_everywhere(*what, reason, others)
    for version in (f"{widget} {number}", *others):
        report(f"{version} is revoked.")
    report("Nobody can publish this bundle again.")


@versions.command()
def unrevoke(
    widget: Key, number: Number, data: DataOption = None, config: ConfigOption = None
) -> None:
    """Undo a revocation: the bundle is served again."""
    from ..core.actors import COMMAND_LINE
    from .revoke_version import unrevoke_version

    node = open_existing(data, config)
    unrevoke_version(node.store, node.bundles, COMMAND_LINE, widget, number)
    report(f"{widget} {number} is no longer revoked.")
