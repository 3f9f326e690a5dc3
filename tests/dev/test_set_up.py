"""The first `./dev`: its output, its files, and the effects of an interruption."""

import ast
import os
import signal
import time

from dev.dev_project import ROOT, DevProject


def test_a_set_up_says_a_handful_of_lines_and_the_rest_is_in_a_log(project: DevProject) -> None:
    done = project.run("run", "echo", "hello")

    assert (done.returncode, done.stdout) == (0, "hello\n")
    said = done.stderr.splitlines()
    assert said[0] == "Setting up .venv (once). The full output is in .cache/set-up.log."
    assert said[-1].startswith("Ready after ")
    assert len(said) == 4
    assert "line 100 of uv" in project.log


def test_the_first_start_of_the_service_says_why_it_takes_longer(project: DevProject) -> None:
    first, second = project.run("serve"), project.run("serve")

    # There is no service here to start.
    assert first.stderr.splitlines()[-2:] == [
        "Starting the service. Python compiles it once, which takes a few seconds.",
        "There is no program 'widget-catalog' in the environment.",
    ]
    assert second.stderr.splitlines() == first.stderr.splitlines()[-1:]


def test_the_next_start_says_and_installs_nothing(project: DevProject) -> None:
    project.run("run", "true")
    done = project.run("run", "true")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert project.calls == ["sync", "install"]


def test_what_is_installed_follows_the_pinned_versions(project: DevProject) -> None:
    project.run("run", "true")
    project.pin("runtime", "another==1")
    project.run("run", "true")

    assert project.calls == ["sync", "install"] * 2


def test_developers_tools_stay_when_the_pinned_versions_change(project: DevProject) -> None:
    project.add_program(project.programs / "chromium", "#!/bin/sh\n")
    project.run("test", "--version")
    for kind in ("runtime", "dev"):
        project.pin(kind, "another==1")
    project.run("run", "true")

    assert "requirements/dev.txt" in project.log
    assert "requirements/runtime.txt" not in project.log


def test_a_full_disk_is_a_sentence(project: DevProject) -> None:
    done = project.run("run", "true", UV_WILL="fill the disk")

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("The disk is full (")
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_a_sentence(project: DevProject) -> None:
    (project.folder / ".cache").write_text("in the way")
    done = project.run("run", "true")

    assert done.returncode == 1
    assert done.stderr == f"./dev cannot use {project.folder / '.cache'}: File exists.\n"


def test_two_at_once_set_up_once(project: DevProject) -> None:
    first = project.start("run", "true", UV_WILL="wait")
    _wait_for_installer(project)
    second = project.start("run", "echo", "second")
    assert second.stderr is not None
    assert second.stderr.readline() == "Another ./dev is setting up .venv; waiting for it …\n"
    (project.folder / "go-on").touch()

    assert first.wait(60) == 0
    out, err = second.communicate(timeout=60)
    assert (second.returncode, out, err) == (0, "second\n", "")
    assert project.calls == ["sync", "install"]
    first.communicate()


def test_a_set_up_that_was_killed_starts_again_from_nothing(project: DevProject) -> None:
    killed = project.start("run", "true", UV_WILL="wait")
    _wait_for_installer(project)
    half_installed = project.folder / ".venv" / "half-installed"
    half_installed.touch()
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()

    done = project.run("run", "true")
    assert done.returncode == 0
    assert not half_installed.exists()
    assert project.calls == ["sync", "sync", "install"]


def test_an_installer_that_outlives_its_parent_is_waited_for(project: DevProject) -> None:
    killed = project.start("run", "true", UV_WILL="wait")
    _wait_for_installer(project)
    killed.kill()
    killed.wait()
    next_ = project.start("run", "true")
    assert next_.stderr is not None
    assert next_.stderr.readline() == "Another ./dev is setting up .venv; waiting for it …\n"
    (project.folder / "go-on").touch()

    next_.communicate(timeout=60)
    assert next_.returncode == 0
    killed.communicate()


def test_no_process_is_kept_from_using_bytecode(project: DevProject) -> None:
    done = project.run("run", "env", PYTHONDONTWRITEBYTECODE="1")

    assert "PYTHONDONTWRITEBYTECODE" not in done.stdout
    assert f"VIRTUAL_ENV={project.folder / '.venv'}\n" in done.stdout


def test_an_older_python_can_read_the_file_that_refuses_it() -> None:
    ast.parse((ROOT / "dev").read_text(), feature_version=(3, 7))


def _wait_for_installer(project: DevProject) -> None:
    deadline = time.monotonic() + 60
    while not project.calls:
        assert time.monotonic() < deadline
        time.sleep(0.02)
