"""Runs `widget-catalog` as a release with one more migration would.

python -m core.db.later_release MIGRATIONS ARGUMENTS...
"""

import sys
from pathlib import Path

from core.db.next_migration import use_migrations
from widget_catalog.app.main import run

if __name__ == "__main__":
    use_migrations(Path(sys.argv.pop(1)))
    run()
