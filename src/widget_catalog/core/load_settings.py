"""Reads the settings from flags, environment and file, and reports all errors at once. Nothing else
reads the environment.
"""

import os
import shlex
import socket
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .errors import InvalidSettings
from .settings import PREFIX, Settings, list_settings, removed_settings, settings_from

# Other variables with the prefix: the settings file, and the catalog of the authors' tool.
_CONFIG = f"{PREFIX}CONFIG"
_OF_OTHERS = (_CONFIG, f"{PREFIX}URL")
_FIRST_PASSED = 3


def load_settings(
    flags: Mapping[str, Any] | None = None,
    file: Path | None = None,
    others: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Settings:
    """Flags override the environment, which overrides the file. None means not given.

    `others` are settings given with `--set`; `defaults` apply if nothing else does.
    """
    environment = os.environ if environment is None else environment
    problems: list[str] = []
    groups = list_settings()
    known = {it.name: it for members in groups.values() for it in members}
    variables = {f"{PREFIX}{name.upper()}": name for name in known}
    # By name: the value, and where it comes from.
    given = {name: (value, name) for name, value in (defaults or {}).items()}
    given |= _from_file(_settings_file(file, environment), problems)
    given |= {name: (environment[it], it) for it, name in variables.items() if it in environment}
    files = {f"{it}_FILE": name for it, name in variables.items() if not known[name].repr}
    given |= _from_secret_files(files, environment, problems)
    unknown, removed, former = [], [], removed_settings()
    read = (*variables, *files, *_OF_OTHERS)
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name.lower() in former and name != variable:
            removed.append(_was_removed(variable, former[name.lower()]))
        elif variable.startswith(PREFIX) and variable.upper() not in read:
            hint = _no_such(name, known, lambda name: PREFIX + name.upper())
            unknown.append(f"{variable}: {hint}")
    for variable in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        if environment.get(variable):
            given.setdefault("s3_region", (environment[variable], variable))
    for name, value in (flags or {}).items():
        if value is not None:
            given[name] = (value, f"--{name.replace('_', '-')}")
    given |= {name: (value, f"--set {name}") for name, value in (others or {}).items()}
    values: dict[str, Any] = {}
    for name, (value, source) in given.items():
        if name in former:
            removed.append(_was_removed(source, former[name]))
            continue
        if name not in known:
            unknown.append(f"{source}: {_no_such(name, known)}")
            continue
        try:
            values[name] = _converted(value, type(known[name].default))
        except ValueError as rejected:
            problems.append(f"{source}: {rejected}")
    if not values.get("allow_unknown_settings"):
        problems += unknown
    complete = {name: it.default for name, it in known.items()} | values
    errors = [
        (name, error)
        for name, field in known.items()
        if (rule := field.metadata["rule"]) is not None and (error := rule(complete[name]))
    ]
    for group in groups:
        errors += group.check(complete)
    problems += [f"{given[name][1] if name in given else name}: {error}" for name, error in errors]
    if problems:
        raise InvalidSettings(problems)
    return replace(settings_from(values), unknown=(*removed, *unknown))


def find_exposed_secrets(
    file: Path | None = None, environment: Mapping[str, str] | None = None
) -> str | None:
    """A warning if the settings file has secrets that every user of this machine can read."""
    file = _settings_file(file, os.environ if environment is None else environment)
    given = _from_file(file, [])
    known = [it for members in list_settings().values() for it in members]
    secrets = [it.name for it in known if not it.repr and it.name in given]
    if file is None or not secrets or not file.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
        return None
    return (
        f"{file} contains {', '.join(secrets)}, and every user of this machine can read or change "
        f"it. Run: chmod o-rwx {shlex.quote(str(file))}"
    )


def _settings_file(file: Path | None, environment: Mapping[str, str]) -> Path | None:
    named = environment.get(_CONFIG)
    return Path(named) if file is None and named else file


def _no_such(name: str, known: Iterable[str], write: Callable[[str], str] = lambda it: it) -> str:
    """The error for an unknown setting, with a suggestion."""
    close = get_close_matches(name.lower().replace("-", "_"), known, n=1)
    return "there is no such setting" + (f"; did you mean {write(close[0])}?" if close else ".")


def _was_removed(source: str, replacement: str) -> str:
    return f"{source}: was removed and is ignored; {replacement}"


def _from_file(file: Path | None, errors: list[str]) -> dict[str, tuple[Any, str]]:
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        errors.append(f"{file}: cannot be read ({error.strerror}).")
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        errors.append(f"{file}: is not valid TOML ({error}).")
        return {}
    return {name: (value, f"{file}: {name}") for name, value in content.items()}


def _from_secret_files(
    files: Mapping[str, str], environment: Mapping[str, str], errors: list[str]
) -> dict[str, tuple[Any, str]]:
    """Secrets from files that variables name, as container platforms provide them."""
    given = {}
    for variable, name in files.items():
        if not (file := environment.get(variable)):
            continue
        if variable.removesuffix("_FILE") in environment:
            other = variable.removesuffix("_FILE")
            errors.append(f"{variable}: {other} is set, too; set only one of them.")
            continue
        try:
            given[name] = (Path(file).read_text(encoding="utf-8").strip(), variable)
        except OSError as error:
            errors.append(f"{variable}: {file} cannot be read ({error.strerror}).")
        except UnicodeDecodeError:
            errors.append(f"{variable}: {file} is not text in UTF-8.")
    return given


def _converted(value: Any, wanted: type) -> Any:
    """Convert a flag, TOML value or string to the type of the setting."""
    if issubclass(wanted, Path):
        if isinstance(value, str | Path) and str(value):
            return Path(value)
        raise ValueError("must be a path.")
    if wanted is bool:
        text = str(value).lower()
        if text in ("true", "yes", "on", "1", "false", "no", "off", "0", ""):
            return text in ("true", "yes", "on", "1")
        raise ValueError(f"must be true or false, not {value!r}.")
    if wanted is int:
        try:
            if not isinstance(value, bool) and isinstance(value, int | str):
                return int(value)
        except ValueError:
            pass
        raise ValueError(f"must be a whole number, not {value!r}.")
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {value!r}.")
    return value


def passed_sockets(environment: Mapping[str, str] | None = None) -> list[socket.socket]:
    """Listening sockets passed by the parent: systemd's socket activation protocol."""
    environment = os.environ if environment is None else environment
    if environment.get("LISTEN_PID") != str(os.getpid()):
        return []
    try:
        count = int(environment.get("LISTEN_FDS", "0"))
        passed = [socket.socket(fileno=_FIRST_PASSED + number) for number in range(count)]
    except (ValueError, OSError) as error:
        raise InvalidSettings([f"LISTEN_FDS: these sockets cannot be used ({error})."]) from None
    if not all(map(_takes_connections, passed)):
        raise InvalidSettings(["LISTEN_FDS: each of these sockets must listen on a TCP port."])
    return passed


def _takes_connections(passed: socket.socket) -> bool:
    """Workers die with any other socket, or wait forever."""
    is_tcp = passed.family in (socket.AF_INET, socket.AF_INET6)
    is_tcp = is_tcp and passed.type == socket.SOCK_STREAM
    return is_tcp and passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
