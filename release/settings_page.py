"""Writes the table of settings in a page: `python -m release.settings_page FILE`."""

import re
import sys
from pathlib import Path

from widget_catalog.app.features import install_features
from widget_catalog.core.settings import settings_table

_TABLE = re.compile(r"^\| Name \| Variable \|.*?\n(?!\|)", re.MULTILINE | re.DOTALL)

if __name__ == "__main__":
    install_features()
    page = Path(sys.argv[1])
    text = page.read_text(encoding="utf-8")
    page.write_text(_TABLE.sub(lambda _: settings_table(), text, count=1), encoding="utf-8")
