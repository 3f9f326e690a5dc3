"""The GitHub Action and the GitLab component: bash runs their steps as they are, with the real
open_service. Only the expressions are replaced, as the runners do.
"""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml  # type: ignore[import-untyped]

from support.environments import environment_with_pip
from support.service import Service
from tool.publishing import edit
from tool.tool import Tool

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "clients" / "github-action" / "action.yml"
# Where GitLab looks for the components of a project.
GITLAB = ROOT / "templates" / "publish-widget.yml"


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def commands(self) -> list[str]:
        """The lines that GitHub's runner takes for commands."""
        found, stopped = [], ""
        for line in (self.out + self.err).splitlines():
            name = line.strip()
            if name.startswith("::stop-commands::") and not stopped:
                stopped = f"::{name.removeprefix('::stop-commands::')}::"
            elif stopped and name == stopped:
                stopped = ""
            elif not stopped and (name.startswith("::") or "##[" in name):
                found.append(name)
        return [*found, stopped] if stopped else found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python as runners have it: with pip, and nothing else."""
    return environment_with_pip(tmp_path_factory.mktemp("runner") / "python")


def bash(script: str, folder: Path, environment: Mapping[str, str]) -> Ran:
    kept = {it: os.environ[it] for it in os.environ if it.startswith(("PIP_", "SSL_", "LANG"))}
    base = {"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], "NO_COLOR": "1"}
    # Python compiles what is used; pip would compile everything.
    base["PIP_NO_COMPILE"] = "1"
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, **base, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=560,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


class Runner:
    """Runs the steps of the action in a checkout."""

    def __init__(self, python: Path, temp: Path) -> None:
        self.action: dict[str, Any] = yaml.safe_load(ACTION.read_text())
        self.temp = temp
        self.known = {
            "steps.python.outputs.python-path": str(python),
            "github.action_path": str(ACTION.parent),
        }

    def run(self, name: str, checkout: Path, token: str = "", **inputs: str) -> Ran:
        declared: dict[str, Any] = self.action["inputs"]
        assert set(inputs) <= set(declared)
        values = {
            f"inputs.{name}": inputs.get(name, about.get("default", ""))
            for name, about in declared.items()
        }
        (step,) = (it for it in self.action["runs"]["steps"] if it.get("name") == name)
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]  # Values in a script would be run.
        environment = {
            key: re.sub(r"\$\{\{ (\S+) \}\}", lambda it: {**self.known, **values}[it[1]], value)
            for key, value in step["env"].items()
        }
        environment["RUNNER_TEMP"] = str(self.temp)
        environment["GITHUB_OUTPUT"] = str(self.temp / "output")
        environment["GITHUB_STEP_SUMMARY"] = str(self.temp / "summary")
        return bash(step["run"], checkout, {"WIDGET_TOKEN": token, **environment})

    def result(self) -> Any:
        """The output `result` of the last step."""
        output = self.temp / "output"
        found = re.fullmatch(r"result<<(\S+)\n(.*)\n\1\n", output.read_text(), re.DOTALL)
        output.unlink()
        assert found is not None
        return json.loads(found[2])

    def summary(self) -> list[str]:
        """The rows that the last step has added to the summary of the run."""
        file = self.temp / "summary"
        lines = file.read_text().splitlines()
        file.unlink()
        assert lines[:2] == ["| Widget | Version | Result |", "|---|---|---|"]
        return lines[2:]


@pytest.fixture(scope="module")
def runner(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """A runner on which the tool was installed by the action's own step."""
    runner = Runner(python, tmp_path_factory.mktemp("temp"))
    installed = runner.run("Install the tool", runner.temp)
    assert installed.code == 0, installed
    # Again in the same job: nothing to do.
    assert runner.run("Install the tool", runner.temp) == Ran(0, "", "")
    return runner


def test_the_action_validates_and_publishes_a_new_version_once(
    runner: Runner, author: Tool, open_service: Service
) -> None:
    clock = author.begin("clock")
    token = author.environment["WIDGET_TOKEN"]
    inputs = {"catalog": open_service.url, "folder": "clock"}

    validated = runner.run("Validate", author.home, **inputs)
    assert validated.code == 0
    assert validated.out.splitlines()[1].startswith("Valid: clock")
    for expected in ("published", "already-published"):
        done = runner.run("Publish", author.home, token, **inputs)
        assert done.code == 0, done
        result = runner.result()
        assert result["status"] == expected
        word = {"published": "published", "already-published": "unchanged"}[expected]
        key = f"{result['scope']}/clock"
        row = f"| [{key}]({open_service.url}/widgets/{key}) | 0.1.0 | {word} |"
        assert runner.summary() == [row]
        assert row in done.out
        assert done.commands == ["::group::Result as JSON", "::endgroup::"]
    (clock / "index.js").write_text("export function mount() {} // Changed.")
    refused = runner.run("Publish", author.home, token, **inputs)
    assert (refused.code, runner.result()["exitCode"]) == (6, 6)
    assert f"**failed**: {key} 0.1.0 is already published" in runner.summary()[0]
    edit(clock, version="one")
    assert runner.run("Validate", author.home, **inputs).code == 5


def test_the_action_publishes_all_widgets_of_a_repository(
    runner: Runner, author: Tool, open_service: Service
) -> None:
    author.begin("clock")
    author.begin("weather")
    token = author.environment["WIDGET_TOKEN"]
    inputs = {"catalog": open_service.url, "all": "true"}
    assert runner.run("Validate", author.home, **inputs).code == 0
    done = runner.run("Publish", author.home, token, **inputs)
    assert done.code == 0, done
    widgets = runner.result()["widgets"]
    published = {it["folder"]: it["status"] for it in widgets}
    assert published == {"clock": "published", "weather": "published"}
    assert runner.summary() == [
        f"| [{it['scope']}/{it['name']}]({it['pageUrl']}) | 0.1.0 | published |" for it in widgets
    ]


def test_the_action_publishes_to_the_scope_that_is_given_and_says_why_it_cannot(
    runner: Runner, author: Tool, open_service: Service
) -> None:
    author.begin("clock")
    inputs = {"catalog": open_service.url, "folder": "clock"}
    token = author.environment["WIDGET_TOKEN"]
    elsewhere = runner.run("Publish", author.home, token, **inputs, scope="elsewhere")
    assert (elsewhere.code, runner.result()["exitCode"]) == (4, 4)
    without = runner.run("Publish", author.home, **inputs)
    assert (without.code, runner.result()["exitCode"]) == (3, 3)
    assert "WIDGET_TOKEN" in without.out


def test_nothing_that_the_action_prints_of_a_checkout_is_a_command_to_the_runner(
    runner: Runner, author: Tool, open_service: Service
) -> None:
    for name in ("::error ::one", "a\n::set-output name=x::1", "##[error]three"):
        (author.home / name).mkdir()
        (author.home / name / "widget.json").write_text("##[error]text")
    inputs = {"catalog": open_service.url, "all": "true"}
    checked = runner.run("Validate", author.home, **inputs)
    assert (checked.code, checked.commands) == (5, [])
    assert "::stop-commands::" in checked.out
    (runner.temp / "summary").unlink(missing_ok=True)
    tried = runner.run("Publish", author.home, author.environment["WIDGET_TOKEN"], **inputs)
    assert tried.commands == ["::group::Result as JSON", "::endgroup::"]
    assert len(runner.result()["widgets"]) == len(runner.summary()) == 3


def test_the_action_publishes_only_if_it_is_asked_to() -> None:
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    conditions = {it.get("name"): it["if"] for it in steps if "if" in it}
    assert conditions == {"Publish": "inputs.publish == 'true'"}


@pytest.mark.machine
def test_the_gitlab_component_validates_and_publishes_with_the_tool_of_the_catalog(
    python: Path, author: Tool, open_service: Service
) -> None:
    author.begin("clock")
    author.begin("weather")
    inputs = {"catalog": f"{open_service.url}/", "all": "true"}
    header, body = GITLAB.read_text().split("\n---\n")
    declared = yaml.safe_load(header)["spec"]["inputs"]
    values = {
        it: str(inputs.get(it, (about or {}).get("default"))) for it, about in declared.items()
    }
    jobs = yaml.safe_load(re.sub(r"\$\[\[ inputs\.([\w-]+) \]\]", lambda it: values[it[1]], body))
    shared = jobs[".widget"]
    environment = {**shared["variables"], "PATH": f"{python.parent}:/usr/bin:/bin"}

    # Every job installs the tool. Here both run on one machine, and the first one does.
    *install, choose_options = shared["before_script"]

    def run(job: str, *before: str, token: str = "") -> Ran:
        assert jobs[job]["extends"] == ".widget"
        script = "\n".join([*before, choose_options, *jobs[job]["script"]])
        return bash(script, author.home, {**environment, "WIDGET_TOKEN": token})

    validated = run("validate-widget", *install)
    assert (validated.code, validated.out) == (
        0,
        "clock\tclock\t0.1.0\tvalid\nweather\tweather\t0.1.0\tvalid\n",
    )
    done = run("publish-widget", token=author.environment["WIDGET_TOKEN"])
    assert (done.code, done.out.count("\tpublished\n")) == (0, 2), done
    # After what builds in an earlier stage; `needs` would keep its files away.
    stages = {it: jobs[it]["stage"] for it in ("validate-widget", "publish-widget")}
    assert stages == {"validate-widget": "test", "publish-widget": "deploy"}
    assert not any("needs" in it for it in jobs.values())
    assert jobs["publish-widget"]["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
