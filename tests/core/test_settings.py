"""Settings from flags, environment and file: precedence, and errors."""

import re
import secrets
from pathlib import Path
from typing import Any

import pytest

from widget_catalog.catalog.model.settings import CatalogSettings
from widget_catalog.core.errors import InvalidSettings
from widget_catalog.core.load_settings import find_exposed_secrets, load_settings
from widget_catalog.core.settings import PREFIX, list_settings, settings_from

DECLARED = [it for members in list_settings().values() for it in members]


def test_nothing_given_is_the_defaults() -> None:
    assert load_settings(environment={}) == settings_from({})


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text('port = 1001\nworkers = 2\nservice_name = "From the file"\n')
    environment = {"WIDGET_CATALOG_PORT": "1002", "WIDGET_CATALOG_WORKERS": "3"}

    settings = load_settings({"port": 1003, "workers": None}, file, environment=environment)

    assert (settings.port, settings.workers) == (1003, 3)
    assert settings.service_name == "From the file"


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text("port = 1001")

    assert load_settings(environment={"WIDGET_CATALOG_CONFIG": str(file)}).port == 1001


def test_settings_given_by_name_count_as_flags() -> None:
    settings = load_settings({}, None, {"cache_mb": "7"}, {"WIDGET_CATALOG_CACHE_MB": "8"})

    assert settings.of(CatalogSettings).cache_mb == 7


def test_what_switches_on() -> None:
    for text in ["true", "YES", "on", "1"]:
        assert load_settings(environment={"WIDGET_CATALOG_ACCESS_LOG": text}).access_log is True


def test_what_switches_off() -> None:
    for text in ["false", "No", "off", "0", ""]:
        assert load_settings(environment={"WIDGET_CATALOG_ACCESS_LOG": text}).access_log is False


def test_every_error_is_reported_at_once_and_names_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text('workers = "many"\ncolour = "red"\nlog_format = "xml"\n')
    environment = {"WIDGET_CATALOG_PORT": "70000", "WIDGET_CATALOG_PROT": "1"}

    with pytest.raises(InvalidSettings) as caught:
        load_settings(
            {"base_url": "catalog.example", "rate_limit": "often"},
            file,
            {"nope": "1"},
            environment,
        )

    assert sorted(caught.value.errors) == sorted(
        [
            "WIDGET_CATALOG_PROT: there is no such setting; did you mean WIDGET_CATALOG_PORT?",
            f"{file}: workers: must be a whole number, not 'many'.",
            f"{file}: colour: there is no such setting.",
            "--set nope: there is no such setting.",
            "WIDGET_CATALOG_PORT: must be from 1 to 65535.",
            "--base-url: must be an http(s) URL without query, fragment or username.",
            f"{file}: log_format: must be console or json.",
            "--rate-limit: must be like 300/minute or 10/second.",
        ]
    )


def test_unknown_settings_can_be_allowed_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text('colour = "red"\n')

    settings = load_settings(
        {"allow_unknown_settings": True}, file, {"nope": "1"}, {"WIDGET_CATALOG_PROT": "1"}
    )

    assert sorted(settings.unknown) == [
        "--set nope: there is no such setting.",
        f"{file}: colour: there is no such setting.",
        "WIDGET_CATALOG_PROT: there is no such setting; did you mean WIDGET_CATALOG_PORT?",
    ]


def test_a_setting_that_was_removed_is_ignored_with_what_replaces_it(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("scrub_mb_per_s = 1\n")
    replaced = "a bundle is verified when a process first opens it, and all are by doctor."

    settings = load_settings({}, file, {}, {"WIDGET_CATALOG_SCRUB_MB_PER_S": "0"})

    assert settings.unknown == (
        f"WIDGET_CATALOG_SCRUB_MB_PER_S: was removed and is ignored; {replaced}",
        f"{file}: scrub_mb_per_s: was removed and is ignored; {replaced}",
    )


def test_invalid_values_are_refused_also_where_unknown_settings_are_allowed() -> None:
    environment = {
        "WIDGET_CATALOG_ALLOW_UNKNOWN_SETTINGS": "true",
        "WIDGET_CATALOG_NEW": "1",
        "WIDGET_CATALOG_PORT": "many",
    }

    with pytest.raises(InvalidSettings) as caught:
        load_settings(environment=environment)

    assert caught.value.errors == ["WIDGET_CATALOG_PORT: must be a whole number, not 'many'."]


def test_every_secret_can_be_read_from_a_file(tmp_path: Path) -> None:
    secrets = [it.name for group in list_settings().values() for it in group if not it.repr]
    file = tmp_path / "secret"
    file.write_text("postgresql://user:0123456789abcdefghijk@database/catalog\n")

    for name in secrets:
        # The others that a secret is only valid with.
        together = {"SECRET_KEY": "0123456789abcdef" * 2 + "xyz"}
        together |= {"OIDC_ISSUER": "https://o.example"}
        together |= {"OIDC_CLIENT_ID": "id", "OIDC_CLIENT_SECRET": "a"}
        together.pop(name.upper(), None)
        environment = {f"WIDGET_CATALOG_{it}": value for it, value in together.items()}
        environment[f"WIDGET_CATALOG_{name.upper()}_FILE"] = str(file)

        settings = load_settings(environment=environment)

        read = [getattr(it, name, None) for it in (settings, *settings.groups.values())]
        assert file.read_text().strip() in read, name
    assert "secret_key" in secrets


def test_a_secret_given_twice_or_in_no_readable_file_is_refused(tmp_path: Path) -> None:
    key = "WIDGET_CATALOG_SECRET_KEY"
    missing = tmp_path / "missing"
    environment = {
        "WIDGET_CATALOG_SECRET_KEY": "a",
        "WIDGET_CATALOG_SECRET_KEY_FILE": str(tmp_path / "a"),
        "WIDGET_CATALOG_DATABASE_FILE": str(missing),
        "WIDGET_CATALOG_PORT_FILE": str(tmp_path / "port"),
    }

    with pytest.raises(InvalidSettings) as caught:
        load_settings(environment=environment)

    assert caught.value.errors == [
        f"WIDGET_CATALOG_DATABASE_FILE: {missing} cannot be read (No such file or directory).",
        f"{key}_FILE: {key} is set, too; set only one of them.",
        "WIDGET_CATALOG_PORT_FILE: there is no such setting; did you mean WIDGET_CATALOG_PORT?",
    ]


def test_a_value_that_cannot_be_used_is_refused() -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"workers": 0}, "--workers: must be from 1 to 256."),
        ({"port": True}, "--port: must be a whole number, not True."),
        ({"base_url": "https://x.example/?a=1"}, "--base-url: must be an http"),
        ({"base_url": "https://me@x.example/"}, "--base-url: must be an http"),
        ({"base_url": "http://x.example:99999"}, "--base-url: must be an http"),
        ({"base_url": "http://:80"}, "--base-url: must be an http"),
        ({"base_url": "http://h.example/#"}, "--base-url: must be an http"),
        ({"base_url": "http://h.example/?"}, "--base-url: must be an http"),
        ({"base_url": "https://h.example;x"}, "--base-url: must be an http"),
        ({"base_url": "https://h.example,x"}, "--base-url: must be an http"),
        ({"base_url": "https://h.example\\x"}, "--base-url: must be an http"),
        ({"base_url": "https://[::1"}, "--base-url: must be an http"),
        ({"base_url": "https://x.example/widgets"}, "--base-url: must have no path, because "),
        ({"base_url": "https://x.example//w/"}, "--base-url: must have no path, because "),
        ({"cdn_base_url": 'https://x.example/"'}, "--cdn-base-url: must be an http"),
        ({"service_name": " "}, "--service-name: must not be empty."),
        ({"port": 9000, "metrics_port": 9000}, "--metrics-port: must not be the port"),
        ({"data": ""}, "--data: must be a path."),
        ({"min_cli_version": "1.0"}, '--min-cli-version: "1.0" is not a semantic version: '),
        ({"min_cli_version": ""}, '--min-cli-version: "" is not a semantic version: '),
    ]
    for flags, complaint in cases:
        with pytest.raises(InvalidSettings) as caught:
            load_settings(flags, environment={})

        assert caught.value.message.startswith(complaint)


def test_a_mistyped_name_is_answered_with_the_one_that_may_be_meant(tmp_path: Path) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text('base-url = "https://c.example"\n')

    with pytest.raises(InvalidSettings) as caught:
        load_settings(
            None,
            file,
            {"rate-limits": "1/second", "xyzzy": "1"},
            {"WIDGET_CATALOG_HOTS": "::1"},
        )

    assert sorted(caught.value.errors) == sorted(
        [
            f"{file}: base-url: there is no such setting; did you mean base_url?",
            "--set rate-limits: there is no such setting; did you mean rate_limit?",
            "--set xyzzy: there is no such setting.",
            "WIDGET_CATALOG_HOTS: there is no such setting; did you mean WIDGET_CATALOG_HOST?",
        ]
    )


def test_a_file_that_is_missing_or_not_toml_is_a_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="cannot be read"):
        load_settings({}, tmp_path / "nothing.toml", environment={})
    (tmp_path / "bad.toml").write_text("port = = 1")
    with pytest.raises(InvalidSettings, match="is not valid TOML"):
        load_settings({}, tmp_path / "bad.toml", environment={})


@pytest.mark.parametrize(
    ("flags", "public_url", "cdn_url"),
    [
        ({}, "http://127.0.0.1:8080", "http://127.0.0.1:8080/cdn"),
        ({"host": "0.0.0.0", "port": 90}, "http://127.0.0.1:90", "http://127.0.0.1:90/cdn"),
        ({"host": "::1"}, "http://[::1]:8080", "http://[::1]:8080/cdn"),
        ({"base_url": "https://c.example/"}, "https://c.example", "https://c.example/cdn"),
        (
            {"base_url": "https://c.example/w/", "shares_origin": True},
            "https://c.example/w",
            "https://c.example/w/cdn",
        ),
        (
            {"base_url": "https://c.example", "cdn_base_url": "https://cdn.example/"},
            "https://c.example",
            "https://cdn.example",
        ),
    ],
)
def test_addresses_follow_from_what_is_set(
    flags: dict[str, object], public_url: str, cdn_url: str
) -> None:
    settings = load_settings(flags, environment={})

    assert (settings.public_url, settings.cdn_url) == (public_url, cdn_url)


def test_every_setting_can_come_from_the_environment() -> None:
    given = {f"{PREFIX}{it.name.upper()}": str(it.default) for it in DECLARED}

    assert load_settings(environment=given) == settings_from({})


def test_the_variable_of_the_authors_tool_is_no_error() -> None:
    environment = {"WIDGET_CATALOG_URL": "https://catalog.example"}
    assert load_settings(environment=environment) == load_settings(environment={})


NUMBERS = [it.name for it in DECLARED if type(it.default) in (int, float)]


def test_every_number_has_a_range() -> None:
    for name in NUMBERS:
        for value in ["-1", str(-(10**30)), str(10**30)]:
            with pytest.raises(InvalidSettings) as caught:
                load_settings({}, None, {name: value}, {})

            assert re.fullmatch(rf"--set {name}: must be from \d+ to \d+\.", caught.value.message)


def test_all_numbers_out_of_range_are_reported_at_once() -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_settings({}, None, dict.fromkeys(NUMBERS, "-1"), {})

    named = [it.split(":")[0].removeprefix("--set ") for it in caught.value.errors]
    assert sorted(set(named)) == sorted(NUMBERS)


DATABASE = {"database": "postgresql://ann:pw@127.0.0.1/x"}
GOOD = "8f1d0c7be2a94635907c1ab3de5f2468"


def test_a_secret_that_can_be_guessed_is_refused() -> None:
    cases = [
        "a" * 32,
        "ab" * 16,
        "passwordpasswordpasswordpassword",
        "0123456789" * 4,
        "012345678901234567890123456789012",
        "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccd",
        "a" * 32 + " " + GOOD,
    ]
    for secret in cases:
        with pytest.raises(InvalidSettings) as caught:
            load_settings({}, None, {**DATABASE, "secret_key": secret}, {})

        (error,) = caught.value.errors
        assert error.startswith("--set secret_key: must have 32 characters or more")
        assert error.endswith("Create one with: openssl rand -hex 32")
        assert secret not in error


def test_a_random_secret_is_taken_even_before_a_weak_one_that_it_replaces() -> None:
    for secret in (GOOD, f"{GOOD} {'a' * 32}", *(secrets.token_hex(16) for _ in range(20))):
        loaded = load_settings({}, None, {**DATABASE, "secret_key": secret}, {})
        assert loaded.secret_key == secret


@pytest.mark.parametrize(
    ("mode", "is_exposed"),
    [(0o600, False), (0o640, False), (0o644, True), (0o604, True), (0o602, True)],
)
def test_a_file_with_secrets_that_everybody_can_read_is_reported(
    tmp_path: Path, mode: int, is_exposed: bool
) -> None:
    file = tmp_path / "my catalog.toml"
    file.write_text('port = 1\nsecret_key = "x"\noidc_client_secret = "y"\n')
    file.chmod(mode)

    warning = find_exposed_secrets(file, {})

    assert find_exposed_secrets(None, {"WIDGET_CATALOG_CONFIG": str(file)}) == warning
    assert warning == (
        f"{file} contains secret_key, oidc_client_secret, and every user of this machine "
        f"can read or change it. Run: chmod o-rwx '{file}'"
        if is_exposed
        else None
    )


def test_a_file_without_secrets_may_be_read_by_everybody(tmp_path: Path) -> None:
    file = tmp_path / "catalog.toml"
    file.write_text("port = 1\n")
    file.chmod(0o644)

    assert find_exposed_secrets(file, {}) is None
    assert find_exposed_secrets(None, {}) is None
