"""Which installer is used, and that uv gets pip's settings."""

import os
import re
import signal
from pathlib import Path

import pytest
from requirements.install import pip_settings, uv_settings

from dev.dev_project import ROOT, DevProject

# No configuration of this machine is read.
_NOTHING = {"PIP_CONFIG_FILE": os.devnull, "XDG_CONFIG_HOME": "/nowhere"}


def test_uv_gets_the_indexes_and_certificates_of_pip() -> None:
    of_pip = {
        "PIP_INDEX_URL": "https://packages.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://a.example/simple\nhttps://b.example/simple",
        "PIP_FIND_LINKS": "/wheels /more",
        "PIP_CERT": "/etc/own.pem",
        "PIP_TRUSTED_HOST": "packages.example",
        "PIP_DEFAULT_TIMEOUT": "180",
        "PIP_PROXY": "http://proxy.example:3128",
    }
    given = uv_settings({**_NOTHING, **of_pip})

    given.pop("UV_SYSTEM_CERTS", None)
    assert given == {
        "UV_DEFAULT_INDEX": "https://packages.example/simple",
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/wheels,/more",
        "SSL_CERT_FILE": "/etc/own.pem",
        "UV_INSECURE_HOST": "packages.example",
        "UV_HTTP_TIMEOUT": "180",
        "ALL_PROXY": "http://proxy.example:3128",
    }


@pytest.mark.parametrize(("said", "is_offline"), [("1", True), ("true", True), ("0", False)])
def test_uv_asks_no_index_if_pip_may_not(said: str, is_offline: bool) -> None:
    assert ("UV_OFFLINE" in uv_settings({**_NOTHING, "PIP_NO_INDEX": said})) is is_offline


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_CONFIG_FILE"])
def test_what_uv_was_told_itself_wins(name: str) -> None:
    of_pip = {"PIP_INDEX_URL": "https://p.example", "PIP_EXTRA_INDEX_URL": "https://q.example"}
    given = uv_settings({**_NOTHING, **of_pip, "PIP_CERT": "own.pem", name: "its own"})

    assert not [it for it in given if "INDEX" in it]
    assert given["SSL_CERT_FILE"] == "own.pem"


def test_a_configuration_file_of_uv_wins(tmp_path: Path) -> None:
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv" / "uv.toml").write_text("")
    environment = {
        **_NOTHING,
        "XDG_CONFIG_HOME": str(tmp_path),
        "PIP_INDEX_URL": "https://p.example",
    }

    assert "UV_DEFAULT_INDEX" not in uv_settings(environment)


def test_files_of_pip_are_read_as_pip_reads_them(tmp_path: Path) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = https://user.example\nno_index = yes\ncert = user.pem\n"
        "[install]\nfind-links =\n  /a\n  /b\n[freeze]\ntimeout = 10\n"
    )
    file = tmp_path / "given.conf"
    file.write_text("[global]\ncert = %own.pem\nfind-links = /c\nproxy = http://file.example\n")
    settings = pip_settings(
        {
            "XDG_CONFIG_HOME": str(tmp_path),
            "PIP_CONFIG_FILE": str(file),
            "PIP_PROXY": "http://environment.example",
        }
    )

    assert settings["index-url"] == "https://user.example"
    assert settings["no-index"] == "yes"
    assert settings["cert"] == "%own.pem"
    assert settings["find-links"].split() == ["/a", "/b"]
    assert settings["proxy"] == "http://environment.example"
    assert "timeout" not in settings


def test_a_file_of_pip_that_cannot_be_read_is_left_to_pip(tmp_path: Path) -> None:
    file = tmp_path / "pip.conf"
    file.write_text("no section\n")
    environment = {"XDG_CONFIG_HOME": "/nowhere", "PIP_CONFIG_FILE": str(file), "PIP_CERT": "x"}

    assert pip_settings(environment)["cert"] == "x"


def test_where_there_is_no_uv_the_pinned_one_is_installed_and_else_pip_is_used(
    project: DevProject,
) -> None:
    """No index may be used here, so neither can be installed; the failure shows pip's last
    message.
    """
    (project.programs / "uv").unlink()
    project.pin("uv", "uv==0")
    project.pin("runtime", "nothing-of-that-name==1")
    done = project.run("run", "true", PIP_NO_INDEX="1")

    assert (done.returncode, done.stdout) == (1, "")
    assert "No matching distribution found for uv==0" in project.log
    assert "  uv cannot be installed here; using pip, which takes a minute or two\n" in done.stderr
    assert "No matching distribution found for nothing-of-that-name==1" in done.stderr
    assert str(project.folder / ".cache" / "set-up.log") in done.stderr
    assert len(done.stderr.splitlines()) < 30
    assert "Traceback" not in done.stderr


def test_where_uv_fails_pip_is_tried(project: DevProject) -> None:
    with project.start("run", "true", UV_WILL="fail") as process:
        assert process.stderr is not None
        said = [process.stderr.readline() for _ in range(3)]
        os.killpg(process.pid, signal.SIGKILL)

    assert said[-1] == "  uv failed; trying pip, which takes a minute or two\n"
    assert "error: no such package" in project.log


def test_the_pinned_uv_has_hashes() -> None:
    pinned = (ROOT / "requirements" / "uv.txt").read_text()
    assert [line[:4] for line in pinned.splitlines() if "==" in line] == ["uv=="]
    assert pinned.count("--hash=sha256:") > 10


@pytest.mark.parametrize("pins", ["runtime", "dev", "uv"])
def test_the_pins_install_on_every_platform(pins: str) -> None:
    """Every package here has several files: one hash alone is from an incomplete index."""
    text = (ROOT / "requirements" / f"{pins}.txt").read_text()
    entries = re.findall(r"^(\S+==\S+).*\n((?:    --hash=.*\n)+)", text, re.MULTILINE)

    assert entries
    assert [name for name, hashes in entries if hashes.count("--hash") < 2] == []
