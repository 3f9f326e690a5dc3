"""`python -m widget_cli` is `widget`."""

from .main import run

run()
