"""The picture that programs show beside a link to a page (Open Graph): a screenshot of the widget's
author, or the catalog's own.
"""

from collections.abc import Sequence
from typing import NamedTuple

from widget_contract.version_files import is_picture
from widget_contract.wire_running import PublishedFile

from ..catalog.model.card_picture import choose_picture

OWN_PATH = "/picture.png"


class LinkPicture(NamedTuple):
    url: str
    width: int
    height: int


def link_picture(files: Sequence[PublishedFile], public_url: str) -> LinkPicture:
    """The first screenshot for light pages among the files of a version, if there is one."""
    pictures = [it for it in files if is_picture(it.path)]  # Not their thumbnails.
    chosen = choose_picture(pictures)
    if chosen is None or (light := chosen.light) is None:
        return LinkPicture(public_url + OWN_PATH, 1200, 630)
    (url,) = [it.url for it in pictures if it.path == light.path]
    return LinkPicture(url, light.width, light.height)
