"""Metrics of processes and of the node: memory, CPU, files, disk, the release."""

import os
import shutil
import time
from pathlib import Path

from .. import release
from ..data_folder import DataFolder
from ..db.migrate import SCHEMA
from .metrics import Reading

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def process_counters() -> list[Reading]:
    return [Reading("process_cpu_seconds", "CPU time of the workers.", time.process_time)]


def process_gauges() -> list[Reading]:
    return [
        Reading("process_resident_bytes", "Resident memory of the workers.", _resident_bytes),
        Reading("process_open_files", "Open files and connections of the workers.", _open_files),
    ]


def node_readings(folder: DataFolder) -> list[Reading]:
    """Of the whole node; read when they are asked for."""

    def disk_free() -> float:
        return shutil.disk_usage(folder.path).free

    return [
        Reading("disk_free_bytes", "Space left on the disk of the data folder.", disk_free),
        Reading("build_info", "1, by release.", lambda: {release.VERSION: 1}, "version"),
        Reading("schema_info", "1, by schema of the release.", lambda: {SCHEMA: 1}, "schema"),
    ]


def _resident_bytes() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


def _open_files() -> float:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208
