"""Python files in the current folder, which our processes must not run."""

from pathlib import Path


def write_shadow_module(folder: Path, module: str) -> Path:
    """A file that is run if this folder is where modules are imported from first. Returns the
    path of the file that it then creates.
    """
    created = folder / f"{module}.was-run"
    (folder / f"{module}.py").write_text(f"open({str(created)!r}, 'x')\nraise SystemExit(1)\n")
    return created
