"""Settings: frozen values. `load_settings.py` reads them.

A setting is declared once: here, or in the `settings.py` of the feature it belongs to, with its
range and its documentation; the table in `docs/settings.md` is generated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import urlsplit

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
_AWS = (
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN, if there is one), or "
    "AWS_SHARED_CREDENTIALS_FILE."
)
# Settings of older releases, and what replaces each: one that is still given is ignored with a
# warning. A feature has its own (`FeatureSettings.removed`).
_REMOVED_SETTINGS = {
    "max_event_streams_per_client": "a client has at most 100 streams for each worker.",
    "max_parallel_uploads": "an address has at most 8 uploads at a time for each worker.",
    "max_silence_s": "a node that can read stays ready while the database is silent.",
    "s3_access_key_id": _AWS,
    "s3_secret_access_key": _AWS,
    "s3_secret_access_key_file": _AWS,
    "s3_session_token": _AWS,
    "s3_session_token_file": _AWS,
    "scrub_mb_per_s": "a bundle is verified when a process first opens it, and all are by doctor.",
    "slow_request_ms": "requests that take a second or longer are logged.",
    "trace_percent": "set OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.",
}
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

    removed: ClassVar[Mapping[str, str]] = {}
    """Settings of older releases, and what replaces each."""

    @classmethod
    def check(cls, _values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The rules about several settings: the name of a setting, and the error."""
        yield from ()


G = TypeVar("G", bound=FeatureSettings)


class ObjectStore(NamedTuple):
    """An S3-compatible store. Empty values, and the key, come from the AWS environment."""

    bucket: str
    prefix: str
    endpoint: str
    region: str
    is_path_style: bool


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
    database_connections: int = setting(
        16,
        "With `database`: connections to PostgreSQL for the requests of each worker, 4 to 100. "
        "Besides these, a worker has up to 4 for counts, and a node 6 to follow the others. See "
        "[sizing](scaling.md#sizing).",
        rule=between(4, 100),
    )
    bundles: str = setting(
        "",
        "Where bundles are stored: `s3://bucket` or `s3://bucket/prefix`. Empty: in the data "
        "folder. The key is in `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, or elsewhere in "
        "the AWS environment. See [object storage](scaling.md#bundles-in-an-object-store).",
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
    drain_s: int = setting(
        5,
        "With `database`: seconds after `SIGTERM` in which `/healthz/ready` returns `503` and "
        "everything is still served, so that a load balancer stops sending requests here before "
        "connections are closed. See [stopping a node](scaling.md#stopping-a-node).",
        rule=between(0, 3_600),
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
    allow_unknown_settings: bool = setting(
        False,
        "Only warn of settings that this release does not have, instead of refusing to start: "
        "for nodes of two releases that share their configuration.",
    )
    unknown: tuple[str, ...] = ()
    """Sentences about settings that this release does not have, and that are ignored."""
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
        place = urlsplit(self.bundles)
        store = (self.s3_endpoint, self.s3_region, self.s3_path_style)
        return ObjectStore(place.netloc, place.path.strip("/"), *store)

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
    own = [it for it in fields(Settings) if "about" in it.metadata]
    return {Settings: own} | {group: list(fields(group)) for group in _groups}


def removed_settings() -> dict[str, str]:
    """What replaces each setting of an older release."""
    return _REMOVED_SETTINGS | {name: it for group in _groups for name, it in group.removed.items()}


def settings_table() -> str:
    """The settings as a table in Markdown, for the documentation."""
    lines = ["| Name | Variable | Default | Meaning |", "|---|---|---|---|"]
    for members in list_settings().values():
        for member in members:
            value = str(member.default)
            value = value.lower() if isinstance(member.default, bool) else value
            default = f"`{value}`" if value else "empty"
            variable = f"`{PREFIX}{member.name.upper()}`"
            variable += "" if member.repr else " or `…_FILE`"
            lines.append(
                f"| `{member.name}` | {variable} | {default} | {member.metadata['about']} |"
            )
    return "\n".join(lines) + "\n"


def settings_from(values: Mapping[str, Any]) -> Settings:
    """The settings with these values, by name, and defaults otherwise. Nothing is checked."""
    given = {
        group: {it.name: values[it.name] for it in members if it.name in values}
        for group, members in list_settings().items()
    }
    if unknown := set(values).difference(*given.values()):
        raise TypeError(f"There are no settings {', '.join(sorted(unknown))}.")
    own = given.pop(Settings)
    return Settings(**own, groups={group: group(**its) for group, its in given.items()})
