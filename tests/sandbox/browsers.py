"""Real browsers that open one page and are ended: the page itself reports to the test."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

_FIREFOX_SETTINGS = {
    "app.update.enabled": "false",
    "browser.aboutwelcome.enabled": "false",
    "browser.shell.checkDefaultBrowser": "false",
    "datareporting.policy.dataSubmissionEnabled": "false",
    "network.captive-portal-service.enabled": "false",
    "network.connectivity-service.enabled": "false",
    "toolkit.telemetry.enabled": "false",
}
_CHROMIUM_OPTIONS = (
    "--headless",
    # Its own sandbox needs privileges that root and most containers lack.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--site-per-process",
)


def find_program(browser: str) -> str:
    # The headless shell does not connect for hints, so the whole Chromium proves more.
    names = {
        "chromium": ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
    }
    found = next(
        filter(None, map(shutil.which, names.get(browser, ("firefox-esr", "firefox")))), None
    )
    assert found, f"{browser} is not installed: run ./dev test, or apt install {browser}."
    return found


@contextlib.contextmanager
def open_in(browser: str, url: str, profile: Path) -> Iterator[None]:
    """The browser shows this page until the block ends."""
    profile.mkdir()
    if browser == "firefox":
        lines = [f'user_pref("{key}", {value});' for key, value in _FIREFOX_SETTINGS.items()]
        (profile / "user.js").write_text("\n".join(lines))
        options = ["--headless", "--no-remote", "--profile", str(profile)]
    else:
        options = [*_CHROMIUM_OPTIONS, f"--user-data-dir={profile}"]
    command = [find_program(browser), *options, url]
    environment = {**os.environ, "HOME": str(profile)}
    with subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, 9)
