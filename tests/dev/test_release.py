"""`./dev release VERSION`, run in a copy of the repository, and the workflow that publishes."""

import datetime
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from release.build import NPM, PLACEHOLDERS
from release.version import PLACES, CannotRelease, current_version, set_version

from support.commands import Said
from widget_catalog.core.release import VERSION

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
NEXT = "41.2.3"
OWN = ("https://code.example/us/catalog", "us@code.example")
DATE = datetime.date(2030, 1, 31)
# What is unreleased right after a release.
A_CHANGE = "- A change."


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    command = ["git", *identity, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def copy_repository(target: Path) -> Path:
    """The tracked files as they are here, in a new repository."""
    for name in filter(None, git(ROOT, "ls-files", "-z").split("\0")):
        if (ROOT / name).is_symlink() or (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    changelog = target / "CHANGELOG.md"
    head, _, rest = changelog.read_text().partition("## Unreleased\n")
    if not rest.partition("\n## ")[0].strip():
        changelog.write_text(f"{head}## Unreleased\n\n{A_CHANGE}\n{rest}")
    git(target, "init", "--quiet")
    git(target, "add", "--all", "--force")
    git(target, "commit", "--quiet", "--message", "Everything")
    return target


def release(repository: Path, *arguments: str) -> Said:
    done = subprocess.run(
        [sys.executable, "-m", "release", *arguments],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(repository / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which the next version was released."""
    repository = copy_repository(tmp_path_factory.mktemp("clone") / "repository")
    (repository / "src" / "widget_catalog" / "not_tracked.py").write_text("raise SystemExit\n")
    options = ("--repository", OWN[0], "--email", OWN[1])
    said = release(repository, NEXT, *options)
    assert said.code == 0, said
    return repository


def sums(repository: Path) -> str:
    return (repository / "dist" / "SHA256SUMS").read_text()


def test_all_packages_are_built_with_checksums(released: Path) -> None:
    python = ("widget_catalog", "widget_catalog_client", "widget_cli", "widget_contract")
    npm = [json.loads((ROOT / it / "package.json").read_text())["name"] for it in NPM]
    expected = {f"{it}-{NEXT}.tar.gz" for it in python} | {f"{it}-{NEXT}.tgz" for it in npm}
    expected |= {f"{it}-{NEXT}-py3-none-any.whl" for it in python}
    assert {it.name for it in (released / "dist").iterdir()} == {*expected, "SHA256SUMS"}
    lines = [line.split("  ") for line in sums(released).splitlines()]
    listed = {name: digest for digest, name in lines}
    assert listed == {
        it: hashlib.sha256((released / "dist" / it).read_bytes()).hexdigest() for it in expected
    }


def test_packages_have_the_version_and_the_addresses_of_the_release(released: Path) -> None:
    for wheel in (released / "dist").glob("*.whl"):
        with zipfile.ZipFile(wheel) as opened:
            (name,) = (it for it in opened.namelist() if it.endswith(".dist-info/METADATA"))
            text = opened.read(name).decode()
            assert not any(it.endswith("not_tracked.py") for it in opened.namelist())
        head = HeaderParser().parsestr(text)
        assert head["Version"] == NEXT
        assert f"Source, {OWN[0]}" in head.get_all("Project-URL", [])
        assert head["Author-email"].endswith(f"<{OWN[1]}>")
        own = [it for it in head.get_all("Requires-Dist", []) if it.startswith("widget-c")]
        assert all(it.endswith(f"=={NEXT}") for it in own if "extra" not in it), own
    for package in (released / "dist").glob("*.tgz"):
        with tarfile.open(package) as archive:
            opened_json = archive.extractfile("package/package.json")
            assert opened_json is not None
            about = json.load(opened_json)
        assert (about["version"], about["homepage"]) == (NEXT, OWN[0])


def test_every_place_states_the_version(released: Path) -> None:
    changed = set(git(released, "diff", "--name-only").split())
    assert changed == {*PLACES, "CHANGELOG.md", "docs/openapi.json"}
    assert current_version(released) == NEXT
    for path in changed - {"CHANGELOG.md", "docs/openapi.json"}:
        lines = git(released, "diff", "--unified=0", "--", path).splitlines()
        added = [it for it in lines if it.startswith("+") and not it.startswith("+++")]
        assert all(NEXT in it or "RELEASED_AT" in it for it in added), added
    document = json.loads((released / "docs" / "openapi.json").read_text())
    assert document["info"]["version"] == NEXT


def test_the_changelog_has_a_section_of_the_release(released: Path) -> None:
    text = (released / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    before = re.findall(
        r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    today = datetime.datetime.now(datetime.UTC).date()
    yesterday = today - datetime.timedelta(days=1)
    assert headings[0] == "Unreleased"
    assert headings[1] in (f"{NEXT} – {today}", f"{NEXT} – {yesterday}")
    assert headings[2:] == before[1:]


def test_the_same_version_again_changes_nothing_and_builds_the_same_bytes(released: Path) -> None:
    before, status = sums(released), git(released, "diff")
    said = release(released, NEXT, "--repository", OWN[0], "--email", OWN[1])
    assert (said.code, said.err) == (0, "")
    assert sums(released) == before
    assert git(released, "diff") == status


def test_the_present_version_is_stated_everywhere() -> None:
    assert set_version(ROOT, VERSION, DATE) == []


@pytest.mark.parametrize(
    ("version", "sentence"),
    [
        ("1.0", "1.0 is not a version such as 0.2.0."),
        ("1.0.0-rc.1", "1.0.0-rc.1 is not a version such as 0.2.0."),
        ("01.0.0", "01.0.0 is not a version such as 0.2.0."),
        ("0.0.1", f"0.0.1 is lower than {VERSION}, the present version."),
    ],
)
def test_other_versions_are_refused(version: str, sentence: str) -> None:
    with pytest.raises(CannotRelease, match=re.escape(sentence)):
        set_version(ROOT, version, DATE)


@pytest.mark.parametrize(
    ("path", "old", "new", "sentence"),
    [
        ("CHANGELOG.md", None, "# Changelog\n\n## Unreleased\n\n## 0.1.0\n", "has no text below"),
        ("clients/js/package.json", VERSION, "0.0.9", "clients/js/package.json does not contain"),
    ],
)
def test_nothing_is_written_if_a_file_is_not_as_expected(
    tmp_path: Path, path: str, old: str | None, new: str, sentence: str
) -> None:
    for name in (*PLACES, "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (tmp_path / path).read_text(encoding="utf-8")
    (tmp_path / path).write_text(new if old is None else text.replace(old, new), encoding="utf-8")
    before = {it: (tmp_path / it).read_bytes() for it in PLACES}
    with pytest.raises(CannotRelease, match=re.escape(sentence)):
        set_version(tmp_path, NEXT, DATE)
    assert {it: (tmp_path / it).read_bytes() for it in PLACES} == before


def test_the_workflow_builds_with_the_command_and_stores_no_secret() -> None:
    text = WORKFLOW.read_text()
    workflow: dict[Any, Any] = yaml.safe_load(text)
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads `on` as true.
    assert set(re.findall(r"secrets\.(\w+)", text)) <= {"GITHUB_TOKEN"}
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    scripts = {
        name: [it["run"] for it in job["steps"] if "run" in it] for name, job in jobs.items()
    }
    assert any("./dev release " in it for it in scripts["build"])
    # What publishes is started by the build alone, and identifies itself with a token of its run.
    for name in ("python", "npm"):
        assert jobs[name]["needs"] == "build"
        assert jobs[name]["permissions"]["id-token"] == "write"
    image = [it for it in jobs["image"]["steps"] if "build-push-action" in it.get("uses", "")]
    assert image[0]["with"]["file"] == "deploy/Dockerfile"
    assert (ROOT / image[0]["with"]["file"]).exists()


def test_the_notes_of_a_release_are_its_section_of_the_changelog(released: Path) -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    (script,) = (it["run"] for it in jobs["page"]["steps"] if "run" in it)
    # All but the command of the code host, which takes the files.
    before, found, _ = script.partition("gh release create")
    assert found
    environment = {**os.environ, "VERSION": NEXT}
    subprocess.run(["bash", "-ec", before], cwd=released, env=environment, check=True)
    notes = (released / "notes.md").read_text(encoding="utf-8").strip()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = changelog.partition("## Unreleased\n")[2].partition("\n## ")[0].strip()
    assert notes == (unreleased or A_CHANGE)


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_the_repository_has_the_placeholders_that_a_release_replaces(placeholder: str) -> None:
    assert placeholder in (ROOT / "pyproject.toml").read_text()
