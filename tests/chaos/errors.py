"""The errors. Each is a function of the stage; all are over when it ends."""

import contextlib
import json
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence

from chaos.ledger import ImportedFile
from chaos.stage import Stage
from chaos.traffic import Traffic
from support.service import is_running, wait_for
from support.widgets import widget_line

_IMPORTED, _IMPORTED_IN_SHORT = 2_000, 500
_JUMPS_S = (-7_200, -600, -5, 5, 600, 7_200)


# Each has its turn in every round; some have two, except in the short form.
ERRORS = (
    "kill-worker",
    "kill-parent",
    "kill-all",
    "stop-and-start",
    "replace-workers",
    "freeze-worker",
    "import-file",
    "fill-disk",
    "set-clock",
)
_OFTEN = ("kill-worker", "import-file")


class Errors:
    """All errors of this stage, in random order."""

    def __init__(
        self,
        stage: Stage,
        traffic: Traffic,
        choose: random.Random,
        only: Sequence[str] = ERRORS,
        *,
        is_short: bool,
    ) -> None:
        self._imported = _IMPORTED_IN_SHORT if is_short else _IMPORTED
        self._stage = stage
        self._traffic = traffic
        self._ledger = stage.ledger
        self._choose = choose
        self._imports: list[tuple[subprocess.Popen[bytes], ImportedFile]] = []
        impossible = {"fill-disk": stage.disk is None, "set-clock": stage.clock is None}
        often = () if is_short else _OFTEN
        possible = [name for name in (*ERRORS, *often) if not impossible.get(name)]
        self._names = [name for name in possible if name in only]
        self._bag: list[str] = []
        self._happened: set[str] = set()

    @property
    def all_happened(self) -> bool:
        return self._happened >= set(self._names)

    def happen(self) -> str:
        """Inject the next one; returns its name."""
        if not self._bag:
            self._bag = self._choose.sample(self._names, len(self._names))
        name = self._bag.pop()
        error: Callable[[], None] = getattr(self, name.replace("-", "_"))
        self._ledger.log(f"{name} begins")
        error()
        self._ledger.log(f"{name} is over")
        self._happened.add(name)
        return name

    def kill_worker(self) -> None:
        if pids := self._stage.service.worker_pids():
            self._kill(self._choose.choice(pids))
            self._ledger.note("workers killed")

    def kill_parent(self) -> None:
        """The workers must end with it, and the next service must not wait for them."""
        service = self._stage.service
        workers = service.worker_pids()
        with self._unserved():
            self._kill(service.process.pid)
            service.process.wait(60)
            wait_for(lambda: not any(map(is_running, workers)))
        self._ledger.note("parents killed")

    def kill_all(self) -> None:
        with self._unserved():
            self._stage.service.kill()
        self._ledger.note("services killed whole")

    def stop_and_start(self) -> None:
        with self._unserved():
            code = self._stage.service.stop(60)
        if code:
            self._ledger.violated(f"a service that was stopped ended with {code}")
        self._ledger.note("services stopped and started")

    def replace_workers(self) -> None:
        """SIGHUP; over when all workers are new, unless one cannot start at the moment."""
        service = self._stage.service
        before = set(service.worker_pids())
        service.process.send_signal(signal.SIGHUP)
        with contextlib.suppress(AssertionError):
            wait_for(lambda: not before & set(service.worker_pids()), 30)
            self._ledger.note("workers replaced by SIGHUP", len(before))

    def freeze_worker(self) -> None:
        """A worker that hangs for a while, whatever it holds."""
        pids = self._stage.service.worker_pids()
        if not pids:
            return
        pid = self._choose.choice(pids)
        with contextlib.suppress(ProcessLookupError):
            self._stage.send(pid, signal.SIGSTOP)
            time.sleep(self._choose.uniform(0.5, 3))
            self._stage.send(pid, signal.SIGCONT)
            self._ledger.note("workers frozen for a while")

    def import_file(self) -> None:
        """Continues during the next errors; every third one is killed."""
        number = len(self._ledger.imports)
        keys = [f"import{number}/w{i}" for i in range(self._imported)]
        file = self._stage.folder / f"import{number}.ndjson"
        file.write_text("".join(json.dumps(widget_line(key)) + "\n" for key in keys))
        imported = ImportedFile(keys)
        self._ledger.imports.append(imported)
        process = self._stage.begin_import(file)
        self._stage.groups.append(process.pid)
        if self._choose.random() < 1 / 3:
            time.sleep(self._choose.uniform(0.5, 3))
            self._kill(process.pid)
            self._ledger.note("imports killed")
        self._imports.append((process, imported))

    def fill_disk(self) -> None:
        disk = self._stage.disk
        assert disk is not None
        disk.fill()
        try:
            time.sleep(self._choose.uniform(0.5, 4))
        finally:
            disk.make_room()
        self._ledger.note("disks filled")

    def set_clock(self) -> None:
        clock = self._stage.clock
        assert clock is not None
        clock.set(self._choose.choice(_JUMPS_S))
        time.sleep(self._choose.uniform(1.5, 4))  # It takes up to a second to be noticed.
        if self._choose.random() < 0.5:
            clock.set(0)
        self._ledger.note("clocks set")

    def end(self) -> None:
        """Free disk space, the right time, and no import in progress."""
        if self._stage.disk:
            self._stage.disk.make_room()
        if self._stage.clock:
            self._stage.clock.set(0)
        for process, imported in self._imports:
            _, said = process.communicate(timeout=300)
            if process.returncode == 0:
                imported.is_acknowledged = True
                self._ledger.note("imports done")
            elif process.returncode > 0:
                self._ledger.note("imports refused")
                self._check_refusal(said.decode())

    def _check_refusal(self, said: str) -> None:
        if "Traceback" in said:
            self._ledger.violated(f"an import ended with a stack trace: {said[-300:]}")

    @contextlib.contextmanager
    def _unserved(self) -> Iterator[None]:
        """No responses are expected until the service is started again."""
        self._traffic.is_served.clear()
        yield
        self._stage.service = self._stage.start()
        self._traffic.is_served.set()

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._stage.send(pid, signal.SIGKILL)
