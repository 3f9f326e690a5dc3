"""For processes under libfaketime, which breaks `time.sleep` as Python has it since 3.11.

Up to 0.9.10, libfaketime takes the end of an absolute sleep on the monotonic clock for a time of
day. Python reads this file by itself when its folder is on PYTHONPATH.
"""

import select
import time


def _sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = _sleep  # type: ignore[assignment]
