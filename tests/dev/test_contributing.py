"""The workflow and the hooks run what contributors run."""

import runpy
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]


def test_the_workflow_runs_all_lanes_chaos_and_the_image() -> None:
    jobs = _read(".github/workflows/test.yml")["jobs"]
    commands = {name: jobs[name]["steps"][-1]["run"] for name in jobs}

    assert commands == {
        "tests": './dev test --lane "$LANE"',
        "chaos": "./dev chaos --minutes 10 $STAGE",
        "image": "sudo ./dev image --pull",
    }
    assert jobs["tests"]["strategy"]["matrix"]["lane"] == [*_lanes()]


def test_every_slow_test_is_in_one_of_two_lanes() -> None:
    """The folders of one are those that the other leaves out."""
    browser, nodes = ({*_lanes()[name]} for name in ("browser", "nodes"))
    folders = {it for it in browser if it.startswith("tests/")}

    assert browser - folders == nodes - {f"--ignore={it}" for it in folders}
    assert len(nodes - browser) == len(folders)
    assert all((ROOT / it).is_dir() for it in folders)


def _lanes() -> dict[str, list[str]]:
    lanes: dict[str, list[str]] = runpy.run_path(str(ROOT / "dev"))["LANES"]
    return lanes


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
