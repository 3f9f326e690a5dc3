"""`python -m widget_catalog` is `widget-catalog`."""

from .main import run

run()
