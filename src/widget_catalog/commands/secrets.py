"""`widget-catalog secrets …`: the keys that this catalog signs with."""

from ..settings import load_settings
from .context import ConfigOption, DataOption, command_group, existing_node, report

secrets = command_group("secrets", "Manage the keys that this catalog signs with.")


@secrets.command()
def rotate(data: DataOption = None, config: ConfigOption = None) -> None:
    """Make new signing keys. The service may be running, and uses them at once.

    Ends sign-ins that are under way, and the addresses of files that are not uploaded yet:
    people begin again. Sessions, access tokens and passwords stay as they are. Without this
    command keys are replaced every day, and nothing ends.
    """
    from ..actions.rotate_secrets import rotate_secrets
    from ..domain.accounts import COMMAND_LINE
    from ..opening import open_keys

    settings = load_settings({"data": data}, config)
    node = existing_node(settings)
    rotate_secrets(node.store, open_keys(node.folder, node.store, settings), COMMAND_LINE)
    report(
        "New signing keys are in use; no restart is needed. Sign-ins under way and upload "
        "addresses given out before must be started again."
    )
