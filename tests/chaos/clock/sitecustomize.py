"""For processes under libfaketime, which breaks `time.sleep` of Python 3.11 and newer.

Up to 0.9.10, libfaketime interprets the end of an absolute sleep on the monotonic clock as a time
of day. Python imports this file automatically if its folder is on PYTHONPATH.
"""

import select
import time


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = _sleep  # type: ignore[assignment]
