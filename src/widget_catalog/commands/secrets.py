"""`widget-catalog secrets …`: the signing keys of this catalog."""

from ..settings import load_settings
from .context import ConfigOption, DataOption, command_group, existing_node, report

secrets = command_group("secrets", "Manage the signing keys of this catalog.")


@secrets.command()
def rotate(data: DataOption = None, config: ConfigOption = None) -> None:
    """Create new signing keys. The service may be running, and uses them immediately.

    Invalidates sign-ins in progress, and upload URLs of files that are not uploaded yet.
    Sessions, access tokens and passwords are not affected. Keys are also rotated automatically
    every day, which invalidates nothing.
    """
    from ..actions.rotate_secrets import rotate_secrets
    from ..domain.accounts import COMMAND_LINE
    from ..opening import open_keys

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    rotate_secrets(node.store, open_keys(node.folder, node.store, settings), COMMAND_LINE)
    report(
        "New signing keys are in use; no restart is needed. Sign-ins and uploads "
        "in progress have to be started again."
    )
