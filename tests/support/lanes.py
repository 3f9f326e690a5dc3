"""Which test process runs which file: half of them begin with the files that wait for most of their
time, and the others with those that use the CPU. So neither does the CPU wait for tests that all
wait, nor do those remain until the end.
"""

from typing import Any

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

from support.slow import WAITING_FILES

_WAITING = {f"tests/{it}" for it in WAITING_FILES}


class TwoLanes(LoadFileScheduling):  # type: ignore[misc]
    """Files in their order, those of the process's own lane first."""

    def _assign_work_unit(self, node: Any) -> None:
        is_for_waiting = int(node.gateway.id.removeprefix("gw")) % 2 == 0
        for file in self.workqueue:
            if (file in _WAITING) == is_for_waiting:
                self.workqueue.move_to_end(file, last=False)
                break
        super()._assign_work_unit(node)
