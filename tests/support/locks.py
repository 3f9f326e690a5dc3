"""Another process that holds the writer lock of a data folder."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_HOLD = """
import sys, time
from pathlib import Path
from widget_catalog.core.db.file_lock import WriterLock
with WriterLock(Path(sys.argv[1]), sys.argv[2]).held():
    print("held", flush=True)
    time.sleep(3600)
"""


@contextlib.contextmanager
def held_by_another_process(
    lock_file: Path, program: str = "another program"
) -> Iterator[subprocess.Popen[bytes]]:
    """Holds the lock until it is killed, at the end at the latest."""
    script = [_HOLD, str(lock_file), program]
    with subprocess.Popen([sys.executable, "-c", *script], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            yield process
        finally:
            process.kill()
