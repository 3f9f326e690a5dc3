"""Processes that a test signals and waits for: they end with the test, even if it fails."""

import subprocess
from typing import AnyStr


class EndingProcess(subprocess.Popen[AnyStr]):
    """In a `with` block; a process that has not ended by then is killed. `Popen` would wait for
    it forever, for example if it ignores the signal it was sent.
    """

    def __exit__(self, *error: object) -> None:
        self.kill()
        super().__exit__(*error)  # type: ignore[arg-type]
