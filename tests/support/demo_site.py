"""A site in this process with the demo catalog."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.demo import demo_folder, import_demo
from support.site import ON_POSTGRESQL, InProcessSite


@contextlib.contextmanager
def running_demo_site(data: Path, **settings: Any) -> Iterator[InProcessSite]:
    is_copied = ON_POSTGRESQL not in os.environ
    if is_copied:
        demo_folder(data)
    with InProcessSite(data, is_prepared=is_copied, **settings) as site:
        if not is_copied:
            import_demo(site.node)
        yield site
