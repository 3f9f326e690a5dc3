"""Virtual environments with pip, which is unpacked once: `ensurepip` takes four seconds."""

import ensurepip
import venv
import zipfile
from pathlib import Path

from filelock import FileLock

_CACHE = Path(__file__).parents[2] / ".cache"
# Where interpreters have the pip that `ensurepip` installs; the second one is Debian's.
_BUNDLED = (Path(ensurepip.__file__).parent / "_bundled", Path("/usr/share/python-wheels"))


def environment_with_pip(folder: Path) -> Path:
    """Its Python, which has pip, and nothing else."""
    venv.create(folder)
    for part in _unpacked_pip().iterdir():
        (site_of(folder) / part.name).symlink_to(part)
    return folder / "bin" / "python"


def site_of(environment: Path) -> Path:
    (site,) = (environment / "lib").glob("python*/site-packages")
    return site


def _unpacked_pip() -> Path:
    (wheel, *_) = [it for folder in _BUNDLED for it in folder.glob("pip-*.whl")]
    unpacked = _CACHE / wheel.stem
    # Called by every pytest-xdist worker; the first one unpacks, the others wait.
    with FileLock(_CACHE / "unpack-pip.lock"):
        if not unpacked.exists():
            partial = unpacked.with_suffix(".part")
            zipfile.ZipFile(wheel).extractall(partial)
            partial.rename(unpacked)
    return unpacked
