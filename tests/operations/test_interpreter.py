"""Which builds of Python doctor mentions."""

import sysconfig

import pytest

from widget_catalog.operations.doctor_command import describe_slow_build

USES_A_PROFILE = "-fprofile-use -fprofile-correction"


@pytest.mark.parametrize(
    ("flags", "profile", "is_mentioned"),
    [
        pytest.param("'--enable-shared'", USES_A_PROFILE, True, id="pyenv"),
        pytest.param("'--enable-optimizations' '--with-lto'", USES_A_PROFILE, False, id="docker"),
        pytest.param("'--enable-shared' '--prefix=/usr'", "", False, id="debian"),
        pytest.param(None, None, False, id="not-stated"),
    ],
)
def test_only_a_build_that_is_known_to_be_slower_is_mentioned(
    monkeypatch: pytest.MonkeyPatch, flags: str | None, profile: str | None, is_mentioned: bool
) -> None:
    build = {"CONFIG_ARGS": flags, "PGO_PROF_USE_FLAG": profile}
    monkeypatch.setattr(sysconfig, "get_config_var", build.get)

    assert (describe_slow_build() is not None) == is_mentioned
