"""Transfer: import, export and move."""

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import export, import_, move

FEATURE = Feature(
    name="transfer",
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
