"""The workflow and the hooks run what contributors run."""

from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]


def test_the_workflow_runs_the_quick_tests_everything_and_the_image() -> None:
    jobs = _read(".github/workflows/test.yml")["jobs"]
    commands = {name: jobs[name]["steps"][-1]["run"] for name in jobs}

    assert commands == {
        "quick": "./dev test --quick",
        "everything": ".ci/run",
        "image": "sudo ./dev image --pull",
    }
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == "exec ./dev test"


def test_hooks_use_the_programs_of_the_environment() -> None:
    (source,) = _read(".pre-commit-config.yaml")["repos"]

    assert source["repo"] == "local"
    for hook in source["hooks"]:
        program = hook["entry"].split()[0]
        assert program == "./dev" or program == ".venv/bin/ruff"


def test_updates_are_looked_for_where_dependencies_are() -> None:
    folders: list[str] = []
    for update in _read(".github/dependabot.yml")["updates"]:
        folders += update.get("directories") or [update["directory"]]

    for folder in folders:
        assert (ROOT / folder.strip("/")).is_dir()


def _read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())
