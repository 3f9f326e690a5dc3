"""Prints the committed copy: `python -m widget_catalog.catalog.api.openapi > docs/openapi.json`."""

import sys

from . import openapi, printed

sys.stdout.write(printed(openapi("Widget Catalog", "http://127.0.0.1:8080")))
