"""Settings: frozen, read once from flags, environment and file; reports all errors at once.

A setting is declared once: here, or in the `settings.py` of the feature it belongs to, with its
range and its documentation; the table in `docs/settings.md` is generated. The only place that reads
the environment.
"""

import os
import shlex
import socket
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from .errors import InvalidSettings
from .setting_rules import (
    Rule,
    between,
    check_bucket,
    check_postgresql,
    check_rate_limit,
    check_secrets,
    check_url,
    not_empty,
    one_of,
)

_DATA = Path("data")
PREFIX = "WIDGET_CATALOG_"
# Other variables with this prefix: the settings file, and the catalog of the authors' tool.
_OF_OTHERS = ("config", "url")
_FIRST_PASSED = 3
_PATH_RULE = (
    "must have no path, because every page on that host could act with the sessions of people "
    "who sign in here. Give the catalog a host name of its own; or set shares_origin, if you "
    "trust everything on that host."
)


def setting(default: Any, about: str, *, rule: Rule | None = None, is_secret: bool = False) -> Any:
    """A field of a class of settings. `about` is its documentation, in Markdown."""
    return field(default=default, metadata={"about": about, "rule": rule}, repr=not is_secret)


@dataclass(frozen=True, kw_only=True)
class FeatureSettings:
    """The base of a feature's class of settings: a frozen dataclass of `setting`s."""

    @classmethod
    def check(cls, _values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The rules about several settings: the name of a setting, and the error."""
        yield from ()


G = TypeVar("G", bound=FeatureSettings)


class ObjectStore(NamedTuple):
    """An S3-compatible store. Empty values come from the standard AWS environment."""

    bucket: str
    prefix: str
    endpoint: str
    region: str
    is_path_style: bool
    access_key_id: str
    secret_access_key: str
    session_token: str = ""


class Backends(NamedTuple):
    """Where the data is stored, if not in the data folder."""

    database: str = ""
    bundles: ObjectStore | None = None
    bundle_cache_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Settings:
    data: Path = setting(_DATA, "The data folder: database and bundles.")
    database: str = setting(
        "",
        "The PostgreSQL database that nodes share, as a libpq URI, `postgresql://…`. Empty: "
        "SQLite in the data folder. See [many machines](scaling.md).",
        rule=check_postgresql,
        is_secret=True,
    )
    secret_key: str = setting(
        "",
        "With `database`: a random secret of at least 32 characters, the same on every node: "
        "`openssl rand -hex 32` creates one. A short text repeated, or fewer than 8 different "
        "characters, are refused. Old secrets may follow, separated by spaces.",
        is_secret=True,
    )
    bundles: str = setting(
        "",
        "Where bundles are stored: `s3://bucket` or `s3://bucket/prefix`. Empty: in the data "
        "folder. See [object storage](scaling.md#bundles-in-an-object-store).",
        rule=check_bucket,
    )
    s3_endpoint: str = setting(
        "",
        "The endpoint of an S3-compatible store, such as `https://s3.example`. Empty: "
        "`AWS_ENDPOINT_URL`, or else Amazon S3.",
        rule=check_url,
    )
    s3_region: str = setting("", "Its region. Empty: `AWS_REGION`.")
    s3_path_style: bool = setting(
        False,
        "Use path-style URLs, with the bucket in the path instead of the host name, as most "
        "stores other than Amazon S3 require.",
    )
    s3_access_key_id: str = setting(
        "", "The access key. Empty: `AWS_ACCESS_KEY_ID`, or the standard AWS credential chain."
    )
    s3_secret_access_key: str = setting("", "The secret of that key.", is_secret=True)
    s3_session_token: str = setting(
        "", "The session token of temporary credentials.", is_secret=True
    )
    bundle_cache_mb: int = setting(
        1024,
        "With `bundles`: size of a node's cache of bundles on disk, in MB.",
        rule=between(1, 1 << 24),
    )
    host: str = setting(
        "127.0.0.1",
        "The address to listen on; `0.0.0.0` for all of IPv4, `::` for IPv6.",
        rule=not_empty,
    )
    port: int = setting(8080, "The port to listen on.", rule=between(1, 65535))
    workers: int = setting(
        1,
        "Number of worker processes, 1 to 256. See [sizing](operating.md#workers-and-memory).",
        rule=between(1, 256),
    )
    base_url: str = setting(
        "",
        "The public URL of the service, such as `https://catalog.example`. Empty: derived "
        "from host and port.",
        rule=check_url,
    )
    shares_origin: bool = setting(
        False,
        "Allow a `base_url` with a path. Everything else on that host can then act with the "
        "sessions of signed-in people.",
    )
    cdn_base_url: str = setting(
        "",
        "Where bundles are fetched from, if a CDN serves them. Empty: `{base_url}/cdn`.",
        rule=check_url,
    )
    service_name: str = setting("Widget Catalog", "The name shown to people.", rule=not_empty)
    max_bundle_bytes: int = setting(
        2097152, "Maximum size of a bundle, in bytes; at most 1 GiB.", rule=between(1, 1 << 30)
    )
    max_parallel_uploads: int = setting(
        8,
        "Concurrent uploads from one address, per worker; `0`: no limit.",
        rule=between(0, 1 << 40),
    )
    rate_limit: str = setting(
        "",
        "Requests that a client may make, such as `300/minute`. Empty: no limit. See [rate "
        "limit](administering.md#rate-limit).",
        rule=check_rate_limit,
    )
    trust_forwarded_for: bool = setting(
        False, "Behind a proxy: take the client's address from `X-Forwarded-For` (its last entry)."
    )
    log_format: str = setting(
        "console", "`console` for people, `json` for machines.", rule=one_of("console", "json")
    )
    log_level: str = setting(
        "info",
        "`debug`, `info`, `warning` or `error`.",
        rule=one_of("debug", "info", "warning", "error"),
    )
    access_log: bool = setting(False, "Log every request. It halves the throughput.")
    metrics_host: str = setting("127.0.0.1", "The address of the metrics port.")
    metrics_port: int = setting(
        0, "The port of `/metrics` for Prometheus; `0`: off.", rule=between(0, 65535)
    )
    groups: Mapping[type, FeatureSettings] = field(default_factory=dict)
    """The settings of features, by class."""

    @classmethod
    def check(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The rules about several settings: the name of a setting, and the error."""
        is_url = check_url(values["base_url"]) is None
        has_path = is_url and bool(urlsplit(values["base_url"]).path.strip("/"))
        if has_path and not values["shares_origin"]:
            yield "base_url", _PATH_RULE
        if values["metrics_port"] and values["metrics_port"] == values["port"]:
            yield "metrics_port", "must not be the port of the service itself."
        if bool(values["s3_access_key_id"]) != bool(values["s3_secret_access_key"]):
            yield "s3_access_key_id", "must be set together with s3_secret_access_key."
        if values["s3_session_token"] and not values["s3_access_key_id"]:
            yield "s3_session_token", "requires s3_access_key_id."
        error = check_secrets(values["secret_key"].split()) if values["database"] else None
        if error is not None:
            yield "secret_key", error

    def of(self, group: type[G]) -> G:
        """The settings of a feature; the defaults if it is not installed."""
        found = self.groups.get(group)
        return found if isinstance(found, group) else group()

    @property
    def backends(self) -> Backends:
        return Backends(self.database, self._object_store, self.bundle_cache_mb << 20)

    @property
    def _object_store(self) -> ObjectStore | None:
        if not self.bundles:
            return None
        parts = urlsplit(self.bundles)
        return ObjectStore(
            parts.netloc,
            parts.path.strip("/"),
            self.s3_endpoint,
            self.s3_region,
            self.s3_path_style,
            self.s3_access_key_id,
            self.s3_secret_access_key,
            self.s3_session_token,
        )

    @property
    def secrets(self) -> list[str]:
        """The secrets of nodes that share a database; empty otherwise."""
        return self.secret_key.split() if self.database else []

    @property
    def public_url(self) -> str:
        """The public URL of the service, without a trailing slash."""
        return self.base_url.rstrip("/") or self.local_url

    @property
    def local_url(self) -> str:
        """Where it listens, for this machine."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def cdn_url(self) -> str:
        """The base URL of bundles, without a trailing slash."""
        return (self.cdn_base_url or f"{self.public_url}/cdn").rstrip("/")


_groups: "tuple[type[FeatureSettings], ...]" = ()


def use_settings(groups: "Sequence[type[FeatureSettings]]") -> None:
    """The classes of settings that there are besides `Settings`."""
    global _groups
    _groups = tuple(groups)


def list_settings() -> dict[type[Any], list[Field[Any]]]:
    """The settings of the service and of every installed feature, by class."""
    own = [it for it in fields(Settings) if it.name != "groups"]
    found: dict[type[Any], list[Field[Any]]] = {Settings: own}
    for group in _groups:
        found[group] = list(fields(group))
    return found


def settings_table() -> str:
    """The settings as a table in Markdown, for the documentation."""
    lines = ["| Name | Variable | Default | Meaning |", "|---|---|---|---|"]
    for members in list_settings().values():
        for it in members:
            value = str(it.default).lower() if isinstance(it.default, bool) else str(it.default)
            default = f"`{value}`" if value else "empty"
            variable = f"{PREFIX}{it.name.upper()}"
            lines.append(f"| `{it.name}` | `{variable}` | {default} | {it.metadata['about']} |")
    return "\n".join(lines) + "\n"


def settings_from(values: Mapping[str, Any]) -> Settings:
    """The settings with these values, by name, and defaults otherwise. Nothing is checked."""
    groups = {}
    known = list_settings()
    own = {it.name for it in known.pop(Settings)}
    for group, members in known.items():
        given = {it.name: values[it.name] for it in members if it.name in values}
        groups[group] = group(**given)
    names = own.union(*({it.name for it in members} for members in known.values()))
    if unknown := set(values) - names:
        raise TypeError(f"There are no settings {', '.join(sorted(unknown))}.")
    return Settings(**{name: values[name] for name in own & set(values)}, groups=groups)


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
    faults: list[str] = []
    file = _settings_file(file, environment)
    groups = list_settings()
    known = {it.name: it for members in groups.values() for it in members}
    given = {name: (value, name) for name, value in (defaults or {}).items()}
    given |= _from_file(file, faults)
    given |= {
        name: (environment[f"{PREFIX}{name.upper()}"], f"{PREFIX}{name.upper()}")
        for name in known
        if f"{PREFIX}{name.upper()}" in environment
    }
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and name not in known and name not in _OF_OTHERS:
            faults.append(f"{variable}: {_no_such(name, known, lambda it: PREFIX + it.upper())}")
    for variable in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        if environment.get(variable):
            given.setdefault("s3_region", (environment[variable], variable))
    given |= {
        name: (value, f"--{name.replace('_', '-')}")
        for name, value in (flags or {}).items()
        if value is not None
    }
    given |= {name: (value, f"--set {name}") for name, value in (others or {}).items()}
    values: dict[str, Any] = {}
    for name, (value, source) in given.items():
        if name not in known:
            faults.append(f"{source}: {_no_such(name, known)}")
            continue
        try:
            values[name] = _converted(value, type(known[name].default))
        except ValueError as rejected:
            faults.append(f"{source}: {rejected}")
    complete = {name: it.default for name, it in known.items()} | values
    errors = [
        (name, error)
        for name, it in known.items()
        if (rule := it.metadata["rule"]) is not None and (error := rule(complete[name]))
    ]
    for group in groups:
        errors += group.check(complete)
    faults += [f"{given[name][1] if name in given else name}: {error}" for name, error in errors]
    if faults:
        raise InvalidSettings(faults)
    return settings_from(values)


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
    named = environment.get(f"{PREFIX}CONFIG")
    return Path(named) if file is None and named else file


def _no_such(name: str, known: Iterable[str], write: Callable[[str], str] = lambda it: it) -> str:
    """The error for an unknown setting, with a suggestion."""
    plain = name.lower().replace("-", "_")
    close = get_close_matches(plain, known, n=1)
    return "there is no such setting" + (f"; did you mean {write(close[0])}?" if close else ".")


def _from_file(file: Path | None, faults: list[str]) -> dict[str, tuple[Any, str]]:
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        faults.append(f"{file}: cannot be read ({error.strerror}).")
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        faults.append(f"{file}: is not valid TOML ({error}).")
        return {}
    return {name: (value, f"{file}: {name}") for name, value in content.items()}


def _converted(value: Any, wanted: type) -> Any:
    """Convert a flag, TOML value or string to the type of the setting."""
    if issubclass(wanted, Path):
        if isinstance(value, str | Path) and str(value):
            return Path(value)
        raise ValueError("must be a path.")
    if wanted is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "yes", "on", "1"):
            return True
        if str(value).lower() in ("false", "no", "off", "0", ""):
            return False
        raise ValueError(f"must be true or false, not {value!r}.")
    if wanted is int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError(f"must be a whole number, not {value!r}.")
        try:
            return int(value)
        except ValueError:
            raise ValueError(f"must be a whole number, not {value!r}.") from None
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
        return [socket.socket(fileno=_FIRST_PASSED + number) for number in range(count)]
    except (ValueError, OSError) as error:
        raise InvalidSettings([f"LISTEN_FDS: these sockets cannot be used ({error})."]) from None
