"""Settings: frozen, read once from flags, environment and file; reports all errors at once.

The only place that reads the environment. `docs/settings.md` lists the same fields, and a test
compares the two.
"""

import os
import shlex
import socket
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..accounts.oauth.clients import OWN_CLIENTS
from ..accounts.second_factor.rules import RequiredOf
from .errors import InvalidSettings
from .setting_rules import check_values

_DATA = Path("data")
PREFIX = "WIDGET_CATALOG_"
# Other variables with this prefix: the settings file, and the catalog of the authors' tool.
_OF_OTHERS = ("config", "url")
_FIRST_PASSED = 3


def _setting(default: Any, about: str, *, is_secret: bool = False) -> Any:
    return field(default=default, metadata={"about": about}, repr=not is_secret)


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
    data: Path = _setting(_DATA, "The data folder: database and bundles.")
    database: str = _setting(
        "",
        "The PostgreSQL database that nodes share, `postgresql://…`; empty: SQLite.",
        is_secret=True,
    )
    secret_key: str = _setting(
        "",
        "With `database`: a secret of at least 32 characters, the same on every node. Old "
        "secrets may follow.",
        is_secret=True,
    )
    bundles: str = _setting("", "Where bundles are stored: `s3://bucket/prefix`; empty: on disk.")
    s3_endpoint: str = _setting("", "The endpoint of an S3-compatible store; empty: Amazon S3.")
    s3_region: str = _setting("", "Its region; empty: from `AWS_REGION`.")
    s3_path_style: bool = _setting(
        False, "Use path-style URLs: the bucket in the path, not in the host name."
    )
    s3_access_key_id: str = _setting(
        "", "The access key; empty: the standard AWS credential chain."
    )
    s3_secret_access_key: str = _setting("", "The secret of that key.", is_secret=True)
    s3_session_token: str = _setting(
        "", "The session token of temporary credentials.", is_secret=True
    )
    bundle_cache_mb: int = _setting(
        1024, "With `bundles`: size of a node's disk cache of bundles, in MB."
    )
    host: str = _setting("127.0.0.1", "The address to listen on; `0.0.0.0` for all.")
    port: int = _setting(8080, "The port to listen on.")
    workers: int = _setting(1, "Number of worker processes.")
    base_url: str = _setting("", "The public URL of the service; default: from host and port.")
    shares_origin: bool = _setting(
        False, "Allow a `base_url` with a path: everything on that host can use people's sessions."
    )
    cdn_base_url: str = _setting("", "Where bundles are fetched from; default: `{base_url}/cdn`.")
    service_name: str = _setting("Widget Catalog", "The name shown to people.")
    dashboard: bool = _setting(
        False, "Enable `/dashboard`, where visitors try widgets; enabled by `--demo`."
    )
    max_bundle_bytes: int = _setting(2_097_152, "Maximum size of a bundle.")
    max_document_bytes: int = _setting(
        2_097_152, "Maximum size of a widget's detail with all versions; 0: no limit."
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
    max_changes_per_hour: int = _setting(
        1000, "Changes an account may make to widgets in an hour, and to webhooks; 0: no limit."
    )
    max_open_requests: int = _setting(
        50, "Unconfirmed publish requests an account may have; 0: no limit."
    )
    max_parallel_uploads: int = _setting(
        8, "Concurrent uploads from one address, per worker; 0: no limit."
    )
    max_webhooks: int = _setting(10, "Webhooks a scope may have; 0: no limit.")
    webhook_http: bool = _setting(False, "Allow webhooks to `http` URLs, without TLS.")
    webhook_networks: str = _setting(
        "", "Private networks that webhooks may reach, e.g. `10.1.0.0/16`, separated by spaces."
    )
    mirror_networks: str = _setting(
        "", "Private networks that a mirror may reach besides its upstream, separated by spaces."
    )
    max_reports: int = _setting(
        5, "Reports of widgets from one address in 15 minutes; 0: reports are disabled."
    )
    reserved_names: str = _setting(
        "", "Additional reserved names, separated by spaces; `-name` allows one."
    )
    min_cli_version: str = _setting(
        "0.0.0", "The oldest release of the authors' tool that may publish; `0.0.0`: any."
    )
    registration: str = _setting(
        "closed", "Who may create an account: `closed` (by invitation of an operator) or `open`."
    )
    session_idle_hours: int = _setting(336, "Idle timeout of a session, in hours.")
    session_max_days: int = _setting(90, "Maximum lifetime of a session, in days.")
    oauth_max_days: int = _setting(
        180, "Maximum lifetime of a program's sign-in, in days, however often it is refreshed."
    )
    audit_keep_days: int = _setting(
        0, "How long entries of the audit log are kept, in days; 0: forever."
    )
    second_factor_required: str = _setting(
        RequiredOf.NOBODY.value,
        "Who must have a second factor: `nobody`, `operators`, `owners` (of organizations, and "
        "operators) or `everybody`.",
    )
    oauth_clients: str = _setting(
        OWN_CLIENTS, "OAuth clients: id, name and redirect URIs of each, separated by `;`."
    )
    oidc_issuer: str = _setting("", "The OpenID Connect provider people may sign in through.")
    oidc_client_id: str = _setting("", "The client id of this catalog at the provider.")
    oidc_client_secret: str = _setting(
        "", "The client secret, if the provider issued one.", is_secret=True
    )
    oidc_name: str = _setting(
        "OpenID Connect", "The display name of the provider: `Sign in with …`."
    )
    oidc_creates_accounts: bool = _setting(
        True,
        "People who sign in through the provider may create an account, despite `registration`.",
    )
    cache_mb: int = _setting(80, "Memory for cached responses per worker, in MB.")
    rate_limit: str = _setting(
        "", "Requests a client may make, e.g. `300/minute`; empty: no limit."
    )
    max_event_streams: int = _setting(1000, "Open event streams per worker.")
    max_event_streams_per_client: int = _setting(
        100, "Open event streams per client address and worker; 0: no limit."
    )
    max_lag_s: int = _setting(
        60, "Seconds that changes may wait to be applied before `/healthz/ready` returns `503`."
    )
    max_silence_s: int = _setting(
        0,
        "With `database`: seconds without a response from it before `/healthz/ready` returns "
        "`503`; 0: no limit.",
    )
    trust_forwarded_for: bool = _setting(
        False, "Behind a proxy: take the client's address from `X-Forwarded-For` (its last entry)."
    )
    log_format: str = _setting("console", "`console` for people, `json` for machines.")
    log_level: str = _setting("info", "`debug`, `info`, `warning` or `error`.")
    access_log: bool = _setting(False, "Log every request. It halves the throughput.")
    metrics_host: str = _setting("127.0.0.1", "The address of the metrics port.")
    metrics_port: int = _setting(0, "The port of `/metrics` for Prometheus; 0: off.")

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
        except ValueError as error:
            faults.append(f"{source}: {error}")
    faults += check_values({it.name: it.default for it in fields(Settings)} | values, given)
    if faults:
        raise InvalidSettings(faults)
    return Settings(**values)


def find_exposed_secrets(
    file: Path | None = None, environment: Mapping[str, str] | None = None
) -> str | None:
    """A warning if the settings file has secrets that every user of this machine can read."""
    file = _settings_file(file, os.environ if environment is None else environment)
    given = _from_file(file, [])
    secrets = [it.name for it in fields(Settings) if not it.repr and it.name in given]
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
