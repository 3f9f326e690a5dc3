"""A site in this process with the demo catalog."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.demo import demo_folder
from support.site import InProcessSite


@contextlib.contextmanager
def running_demo_site(data: Path, **settings: Any) -> Iterator[InProcessSite]:
    demo_folder(data)
    with InProcessSite(data, is_prepared=True, **settings) as site:
        yield site
