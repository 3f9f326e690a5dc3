"""Static site: the public catalog as files, for any web server."""

from ..core.commands import DATA, Command
from ..core.features import Feature
from .commands import site

FEATURE = Feature(
    name="static site",
    commands=(Command(site, DATA, ("site public --base-url https://widgets.example",)),),
)
