"""The author's Chromium: found, started without a window, and driven through its debugging pipe.

Driven by hand, because libraries for this bring a browser or a JavaScript runtime of their own.
"""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import Lines, ToolError

_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_OPTIONS = (
    "--headless",
    "--remote-debugging-pipe",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-gpu",
    "--mute-audio",
)
# It reads commands from descriptor 3, and writes to 4. No shell: dash knows only descriptors to 9.
_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(it), fcntl.F_DUPFD_CLOEXEC, 10) for it in sys.argv[1:3]]
for end, descriptor in zip(ends, (3, 4)):
    os.dup2(end, descriptor)
os.execv(sys.argv[3], sys.argv[3:])
"""
# What Chromium writes before it ends.
_NO_SANDBOX = "No usable sandbox"
_SHOWN_LINES = 3
_TIMEOUT_S = 60.0
_LOOK_EVERY_S = 0.1


def find_chromium() -> str:
    """Raises ToolError if there is none. $CHROMIUM names another one."""
    named = os.environ.get("CHROMIUM")
    found = shutil.which(named) if named else None
    for name in _NAMES:
        found = found or shutil.which(name)
    for path in _ELSEWHERE:
        found = found or (path if Path(path).exists() else None)
    if found is None:
        raise ToolError(
            "Screenshots need Chromium, Chrome or Edge, and none was found.",
            "Install one, or set CHROMIUM to its path. You can also put your own pictures into the "
            "folder screenshots.",
        )
    return found


class Browser:
    """Commands of the DevTools protocol, one after the other."""

    def __init__(self, commands: int, responses: int, errors: Path) -> None:
        """Descriptors of its debugging pipe, and the file that it writes errors to."""
        self._commands = commands
        self._responses = responses
        self._errors = errors
        self._number = 0
        self._received = b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]

    def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        with contextlib.suppress(BrokenPipeError):  # It has ended, which reading notices.
            os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            response = self._receive(deadline)
            if response.get("id") == self._number:
                if "error" in response:
                    raise ToolError(f"The browser failed: {response['error'].get('message')}.", "")
                result: dict[str, Any] = response["result"]
                return result

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._received:
            left_s = max(0.0, deadline - time.monotonic())
            if not select.select([self._responses], [], [], left_s)[0]:
                raise ToolError(
                    f"The browser did not respond within {_TIMEOUT_S:.0f} seconds.",
                    "A widget that computes without end blocks it. Try it with: widget dev",
                )
            chunk = os.read(self._responses, 1 << 16)
            if not chunk:
                raise self._ended()
            self._received += chunk
        line, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _ended(self) -> ToolError:
        text = self._errors.read_text(encoding="utf-8", errors="replace")
        if _NO_SANDBOX in text:
            return ToolError(
                "The browser has no sandbox here, as in many containers.",
                "On Debian, install the package chromium-sandbox. If you trust the widget's code, "
                "add --no-sandbox.",
            )
        reason = Lines(*text.splitlines()[-_SHOWN_LINES:])
        return ToolError("The browser ended unexpectedly.", reason or "Try again.")

    def take_picture(self, url: str, width: int, height: int, scale: int) -> bytes:
        """A PNG of a page whose title becomes `ready`, or `failed: …`."""
        session = self._session
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", session, **size)
        self.call("Page.navigate", session, url=url)
        deadline = time.monotonic() + _TIMEOUT_S
        while (title := self._title()) != "ready":
            if title.startswith("failed: "):
                reason = title.removeprefix("failed: ")
                raise ToolError(f"The widget does not run: {reason}", "Try it with: widget dev")
            if time.monotonic() > deadline:
                late = f"The widget did not start within {_TIMEOUT_S:.0f} seconds."
                raise ToolError(late, "Try it with: widget dev")
            time.sleep(_LOOK_EVERY_S)
        picture = self.call("Page.captureScreenshot", session, format="png")
        return base64.b64decode(picture["data"])

    def _title(self) -> str:
        found = self.call("Runtime.evaluate", self._session, expression="document.title")
        return str(found["result"].get("value", ""))


@contextlib.contextmanager
def browser(*, has_sandbox: bool = True) -> Iterator[Browser]:
    program = find_chromium()
    options = list(_OPTIONS)
    if not has_sandbox or (sys.platform == "linux" and os.geteuid() == 0):
        options.append("--no-sandbox")  # As root it does not start otherwise.
    command_end, commands = os.pipe()
    responses, response_end = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        start = [sys.executable, "-I", "-S", "-c", _START, str(command_end), str(response_end)]
        errors = Path(profile, "errors.txt")
        with errors.open("wb") as errors_file:
            process = subprocess.Popen(  # noqa: S603
                [*start, program, *options, f"--user-data-dir={profile}"],
                pass_fds=(command_end, response_end),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors_file,
            )
        os.close(command_end)
        os.close(response_end)
        try:
            yield Browser(commands, responses, errors)
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
            os.close(commands)
            os.close(responses)
