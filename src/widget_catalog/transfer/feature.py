"""Transfer: import, export and move."""

from typing import TYPE_CHECKING

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import export, import_, move

if TYPE_CHECKING:
    from ..core.hooks import Hooks


def _hooks() -> "Hooks":
    from .hooks import HOOKS

    return HOOKS


FEATURE = Feature(
    name="transfer",
    hooks=_hooks,
    commands=(
        Command(
            import_,
            DATA,
            ("import widgets.ndjson", "import - --data /var/lib/catalog < widgets.ndjson"),
            name="import",
        ),
        Command(
            export, DATA, ("export backup/catalog.ndjson", "export - | gzip > catalog.ndjson.gz")
        ),
        Command(
            move, DATA, ("move --to-database postgresql://db/catalog --to-bundles s3://bundles",)
        ),
    ),
)
