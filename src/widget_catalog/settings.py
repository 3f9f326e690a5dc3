"""One frozen Settings, read once from flags, environment and file; every fault at once.

The only place that looks at the environment. `docs/settings.md` lists the same fields, and
a test holds the two against each other.
"""

import os
import re
import socket
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from widget_contract.semver import InvalidVersion, SemVer

from .domain.accounts import reserved_names
from .domain.errors import InvalidSettings
from .domain.oauth_clients import OWN_CLIENTS, parse_clients
from .domain.second_factor import RequiredOf

_DATA = Path("data")
PREFIX = "WIDGET_CATALOG_"
# What else begins so: which file to read, and where the authors' tool finds its catalog.
_OF_OTHERS = ("config", "url")
_URL_RULE = "must be an http(s) address without query, fragment or user name."
_HOST_AND_PORT = re.compile(r"(\w[\w.-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?", re.ASCII)
_PATH_RULE = (
    "must have no path, because every page on that host could act with the sessions of people "
    "who sign in here. Give the catalog a host name of its own; or set shares_origin, if you "
    "trust everything on that host."
)
_FIRST_PASSED = 3
_DATABASE_RULE = (
    "must be an address that PostgreSQL's own clients understand, such as "
    "postgresql://user:password@host/name."
)
_SECRET_LENGTH = 32
_SECRET_RULE = (
    f"must have {_SECRET_LENGTH} characters or more where there is a database, without spaces, and "
    "be the same on every node. Make one with: openssl rand -hex 32"
)
_LOG_FORMATS = ("console", "json")
_REGISTRATION = ("closed", "invitation", "open")
_LOG_LEVELS = ("debug", "info", "warning", "error")


def _setting(default: Any, about: str, *, is_secret: bool = False) -> Any:
    return field(default=default, metadata={"about": about}, repr=not is_secret)


class Backends(NamedTuple):
    """Where the truth is, if not in the data folder."""

    database: str = ""


@dataclass(frozen=True, kw_only=True)
class Settings:
    data: Path = _setting(_DATA, "The folder that holds everything: database and bundles.")
    database: str = _setting(
        "",
        "The PostgreSQL that nodes share, `postgresql://…`; empty: SQLite in the folder.",
        is_secret=True,
    )
    secret_key: str = _setting(
        "",
        "With `database`: a secret of 32 characters or more, the same on every node; former ones "
        "behind it.",
        is_secret=True,
    )
    host: str = _setting("127.0.0.1", "The address to listen on; `0.0.0.0` for all.")
    port: int = _setting(8080, "The port to listen on.")
    workers: int = _setting(1, "How many processes answer requests.")
    base_url: str = _setting("", "The address people reach the service at; default: host and port.")
    shares_origin: bool = _setting(
        False, "Allow a `base_url` with a path: everything on that host can use people's sessions."
    )
    cdn_base_url: str = _setting("", "Where bundles are fetched from; default: `{base_url}/cdn`.")
    service_name: str = _setting("Widget Catalog", "The name shown to people.")
    dashboard: bool = _setting(
        False, "Offer `/dashboard`, where visitors try widgets together; on with `--demo`."
    )
    max_bundle_bytes: int = _setting(2_097_152, "The largest bundle that is taken in.")
    max_document_bytes: int = _setting(
        2_097_152, "What a widget's detail may weigh with one more version; 0: no limit."
    )
    max_organizations: int = _setting(10, "Organizations an account may own; 0: no limit.")
    max_new_widgets_per_day: int = _setting(
        50, "New widgets an account may publish in a day; 0: no limit."
    )
    max_versions_per_hour: int = _setting(
        100, "Versions an account may publish in an hour; 0: no limit."
    )
    max_bytes_per_day: int = _setting(
        268_435_456, "Bytes an account may publish in a day; 0: no limit."
    )
    max_open_requests: int = _setting(
        50, "Requests to publish an account may have open; 0: no limit."
    )
    max_parallel_uploads: int = _setting(
        8, "Uploads at a time from one address, per worker; 0: no limit."
    )
    reserved_names: str = _setting(
        "", "Further names that cannot be taken, separated by spaces; `-name` allows one."
    )
    min_cli_version: str = _setting(
        "0.0.0", "The oldest release of the authors' tool that may publish; `0.0.0`: any."
    )
    registration: str = _setting(
        "closed", "Who may make an account: `closed` (the operator), `invitation` or `open`."
    )
    session_idle_hours: int = _setting(336, "How long a session lasts unused.")
    session_max_days: int = _setting(90, "How long a session lasts at all.")
    oauth_max_days: int = _setting(
        180, "How long a program stays signed in at all, however often it renews its access."
    )
    second_factor_required: str = _setting(
        RequiredOf.NOBODY.value,
        "Who must have a second factor: `nobody`, `operators`, `owners` (of organizations, and "
        "operators) or `everybody`.",
    )
    oauth_clients: str = _setting(
        OWN_CLIENTS, "Programs that may sign people in: id, name and addresses; `;` between them."
    )
    oidc_issuer: str = _setting("", "The OpenID Connect provider people may sign in through.")
    oidc_client_id: str = _setting("", "What the provider knows this catalog by.")
    oidc_client_secret: str = _setting(
        "", "The secret the provider gave for it, if any.", is_secret=True
    )
    oidc_name: str = _setting("OpenID Connect", "What the provider is called: `Sign in with …`.")
    oidc_creates_accounts: bool = _setting(
        True,
        "People who come through the provider may make an account, whatever `registration` is.",
    )
    cache_mb: int = _setting(80, "Memory a worker may use for ready answers, in MB.")
    rate_limit: str = _setting(
        "", "Requests a client may make, e.g. `300/minute`; empty: no limit."
    )
    max_event_streams: int = _setting(
        1000, "Clients that may follow the changes as event streams, for each worker."
    )
    max_lag_s: int = _setting(
        60, "Seconds that changes may wait to be shown before `/healthz/ready` answers `503`."
    )
    trust_forwarded_for: bool = _setting(
        False, "Behind a proxy: take the client from `X-Forwarded-For` (its last entry)."
    )
    log_format: str = _setting("console", "`console` for people, `json` for machines.")
    log_level: str = _setting("info", "`debug`, `info`, `warning` or `error`.")
    access_log: bool = _setting(False, "Log a line a request; it costs about half the speed.")
    metrics_host: str = _setting("127.0.0.1", "The address of the metrics port.")
    metrics_port: int = _setting(0, "The port of `/metrics` for Prometheus; 0: off.")

    @property
    def backends(self) -> Backends:
        return Backends(self.database)

    @property
    def secrets(self) -> list[str]:
        """What nodes that share a database sign and seal with; empty if this is not one."""
        return self.secret_key.split() if self.database else []

    @property
    def public_url(self) -> str:
        """Where people reach the service, without a slash at the end."""
        if self.base_url:
            return self.base_url.rstrip("/")
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host  # noqa: S104
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def cdn_url(self) -> str:
        """Where bundles are fetched from, without a slash at the end."""
        return (self.cdn_base_url or f"{self.public_url}/cdn").rstrip("/")


def load_settings(
    flags: Mapping[str, Any] | None = None,
    file: Path | None = None,
    others: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Settings:
    """Flags win over the environment, the environment over the file. None means not given.

    `others` are settings given by name, with `--set`; `defaults` count where nothing else does.
    """
    environment = os.environ if environment is None else environment
    faults: list[str] = []
    if file is None and environment.get(f"{PREFIX}CONFIG"):
        file = Path(environment[f"{PREFIX}CONFIG"])
    known = {it.name: it for it in fields(Settings)}
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
        except ValueError as error:
            faults.append(f"{source}: {error}")
    faults += _check({it.name: it.default for it in fields(Settings)} | values, given)
    if faults:
        raise InvalidSettings(faults)
    return Settings(**values)


def _no_such(name: str, known: Iterable[str], write: Callable[[str], str] = lambda it: it) -> str:
    """What to say of a name that is not a setting's: the one that may be meant."""
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
        faults.append(f"{file}: is not TOML ({error}).")
        return {}
    return {name: (value, f"{file}: {name}") for name, value in content.items()}


def _converted(value: Any, wanted: type) -> Any:
    """A value of the setting's own type, from a flag, a TOML value or a text."""
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
        raise ValueError(f"must be a text, not {value!r}.")
    return value


def _check(values: Mapping[str, Any], given: Mapping[str, tuple[Any, str]]) -> list[str]:
    """Everything that is wrong with the values themselves."""
    faults = []

    def require(name: str, is_good: bool, sentence: str) -> None:
        if not is_good:
            faults.append(f"{given[name][1] if name in given else name}: {sentence}")

    for name, least, most in (
        ("port", 1, 65535),
        ("metrics_port", 0, 65535),
        ("workers", 1, 256),
        ("max_bundle_bytes", 1, 1 << 30),
        ("cache_mb", 1, 1 << 20),
        ("max_event_streams", 0, 1_000_000),
        ("max_lag_s", 1, 86_400),
        ("max_document_bytes", 0, 1 << 40),
        ("max_organizations", 0, 1 << 40),
        ("max_new_widgets_per_day", 0, 1 << 40),
        ("max_versions_per_hour", 0, 1 << 40),
        ("max_bytes_per_day", 0, 1 << 60),
        ("max_open_requests", 0, 1 << 40),
        ("max_parallel_uploads", 0, 1 << 40),
        ("session_idle_hours", 1, 24 * 366),
        ("session_max_days", 1, 366),
        ("oauth_max_days", 1, 3660),
    ):
        require(name, least <= values[name] <= most, f"must be from {least} to {most}.")
    for name in ("base_url", "cdn_base_url", "oidc_issuer"):
        require(name, not values[name] or _is_url(values[name]), _URL_RULE)
    if values["base_url"] and _is_url(values["base_url"]):
        has_path = bool(urlsplit(values["base_url"]).path.strip("/"))
        require("base_url", values["shares_origin"] or not has_path, _PATH_RULE)
    is_apart = values["metrics_port"] == 0 or values["metrics_port"] != values["port"]
    require("metrics_port", is_apart, "must not be the port of the service itself.")
    require("log_format", values["log_format"] in _LOG_FORMATS, "must be console or json.")
    require(
        "log_level", values["log_level"] in _LOG_LEVELS, f"must be one of {', '.join(_LOG_LEVELS)}."
    )
    require(
        "registration",
        values["registration"] in _REGISTRATION,
        f"must be one of {', '.join(_REGISTRATION)}.",
    )
    require(
        "second_factor_required",
        values["second_factor_required"] in tuple(RequiredOf),
        f"must be one of {', '.join(RequiredOf)}.",
    )
    has_id = bool(values["oidc_client_id"]) or not values["oidc_issuer"]
    require("oidc_client_id", has_id, "is needed with oidc_issuer.")
    require("oidc_name", bool(values["oidc_name"].strip()), "must not be empty.")
    try:
        parse_clients(values["oauth_clients"])
    except ValueError as error:
        require("oauth_clients", False, str(error))
    try:
        SemVer.parse(values["min_cli_version"])
    except InvalidVersion as error:
        require("min_cli_version", False, str(error))
    try:
        reserved_names(values["reserved_names"])
    except ValueError as error:
        require("reserved_names", False, str(error))
    require("host", bool(values["host"]), "must not be empty.")
    if values["database"]:
        require("database", _is_postgresql(values["database"]), _DATABASE_RULE)
        secrets = values["secret_key"].split()
        is_long = bool(secrets) and all(len(it) >= _SECRET_LENGTH for it in secrets)
        require("secret_key", is_long, _SECRET_RULE)
    require("service_name", bool(values["service_name"].strip()), "must not be empty.")
    if values["rate_limit"]:
        from limits import parse_many  # Loaded only where there is a limit, as it takes a while.

        try:
            amounts = [item.amount for item in parse_many(values["rate_limit"])]
        except ValueError:
            amounts = [0]
        require("rate_limit", min(amounts) > 0, "must be like 300/minute or 10/second.")
    return faults


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port != 0  # Raises where it cannot be one.
    except ValueError:
        return False
    is_plain = text.isascii() and text.isprintable() and not set(text) & set(' "?#\\')
    has_host = _HOST_AND_PORT.fullmatch(parts.netloc) is not None
    return parts.scheme in ("http", "https") and has_host and has_port and is_plain


def _is_postgresql(text: str) -> bool:
    if not text.startswith(("postgresql://", "postgres://")):
        return False
    # Loaded only where it is used, as it takes a while.
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    try:
        conninfo_to_dict(text)
    except psycopg.ProgrammingError:
        return False
    return True


def passed_sockets(environment: Mapping[str, str] | None = None) -> list[socket.socket]:
    """Listening sockets that whoever started this process opened for it: systemd's protocol."""
    environment = os.environ if environment is None else environment
    if environment.get("LISTEN_PID") != str(os.getpid()):
        return []
    try:
        count = int(environment.get("LISTEN_FDS", "0"))
        return [socket.socket(fileno=_FIRST_PASSED + number) for number in range(count)]
    except (ValueError, OSError) as error:
        raise InvalidSettings([f"LISTEN_FDS: these sockets cannot be used ({error})."]) from None
