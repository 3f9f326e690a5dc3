"""`widget-catalog secrets …`: the signing keys of this catalog."""

from ..catalog.node.context import ConfigOption, DataOption, command_group, existing_node, report
from ..core.load_settings import load_settings

secrets = command_group("secrets", "Manage the signing keys of this catalog.")


@secrets.command()
def rotate(data: DataOption = None, config: ConfigOption = None) -> None:
    """Create new signing keys. The service may be running, and uses them immediately.

    Invalidates sign-ins in progress, and upload URLs of files that are not uploaded yet.
    Sessions, access tokens and passwords are not affected. Keys are also rotated automatically
    every day, which invalidates nothing.
    """
    from ..catalog.node.opening import open_keys
    from ..core.actors import COMMAND_LINE
    from .rotate_secrets import rotate_secrets

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    rotate_secrets(node.store, open_keys(node.folder, node.store, settings), COMMAND_LINE)
    report(
        "New signing keys are in use; no restart is needed. Sign-ins and uploads "
        "in progress have to be started again."
    )
