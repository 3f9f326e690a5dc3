"""The Python of the documentation has correct types, as `mypy --strict` sees them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

_PYTHON = re.compile(r"^```(?:python|py)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_python_in_the_documentation_passes_mypy(tmp_path: Path) -> None:
    """The guides, and every README of the repository."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    pages += [it for top in ("clients", "contract", "cli", "src") for it in _readmes(ROOT / top)]
    files = []
    for page in pages:
        for number, code in enumerate(_PYTHON.findall(page.read_text(encoding="utf-8")), 1):
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT)))
            file = tmp_path / f"{name}_{number}.py"
            file.write_text(code, encoding="utf-8")
            files.append(file.name)
    assert len(files) >= 5
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file=", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def _readmes(folder: Path) -> list[Path]:
    return [it for it in folder.rglob("README.md") if "node_modules" not in it.parts]
