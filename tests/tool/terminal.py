"""A person who types the responses to a command's questions at a terminal."""

import os
import pty
import subprocess
import termios

from support.commands import Said
from tool.tool import Tool


def typed(tool: Tool, *arguments: str, lines: list[str], then: str | None = None) -> Said:
    """A command at a terminal, where a person types these lines, each after its question; `then`
    has a letter for each question with y or n.
    """
    controller, terminal = pty.openpty()
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO  # Otherwise input typed ahead is shown, too.
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
    started = subprocess.Popen(
        tool.command(*arguments),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=tool.environ({"TERM": "dumb", "COLUMNS": "200"}),
        start_new_session=True,  # It must not use the terminal that runs the tests.
    )
    os.close(terminal)
    shown = b""
    for line in lines:
        while not shown.rstrip(b" ").endswith(b":"):
            shown += os.read(controller, 4096)
        shown += b"\n"
        os.write(controller, f"{line}\n".encode())
    for answer in then or "":
        while not shown.rstrip(b" ").endswith(b"[y/N]"):
            shown += os.read(controller, 4096)
        shown += b"\n"
        os.write(controller, f"{answer}\n".encode())
    out, _ = started.communicate(timeout=60)
    while piece := read_terminal(controller):
        shown += piece
    os.close(controller)
    return Said(started.returncode, out.decode(), shown.decode().replace("\r\n", "\n"))


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # The other end was closed.
        return b""
