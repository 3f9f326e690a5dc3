"""Secrets of authenticator apps: unreadable without a key that is not in the database."""

from pathlib import Path

import pytest

from widget_catalog.core.errors import StoreUnavailable
from widget_catalog.core.keys import SecretBox


def test_what_is_sealed_can_be_opened_again_by_any_process(tmp_path: Path) -> None:
    sealed = SecretBox(tmp_path / "key").seal("a secret")
    assert "secret" not in sealed
    assert SecretBox(tmp_path / "key").open(sealed) == "a secret"


def test_the_key_is_its_owner_s_alone_and_made_once(tmp_path: Path) -> None:
    box = SecretBox(tmp_path / "key")
    box.seal("one")
    made = (tmp_path / "key").read_bytes()
    box.seal("two")
    assert (tmp_path / "key").read_bytes() == made
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert [it.name for it in tmp_path.iterdir()] == ["key"]


def test_without_the_key_or_with_another_nothing_can_be_opened(tmp_path: Path) -> None:
    sealed = SecretBox(tmp_path / "key").seal("a secret")
    (tmp_path / "key").unlink()
    assert SecretBox(tmp_path / "key").open(sealed) is None
    assert not (tmp_path / "key").exists()  # Opening does not create a key that matches nothing.
    SecretBox(tmp_path / "key").seal("another")
    assert SecretBox(tmp_path / "key").open(sealed) is None
    (tmp_path / "key").write_text("no key")
    assert SecretBox(tmp_path / "key").open(sealed) is None


def test_a_key_that_cannot_be_made_or_used_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        SecretBox(tmp_path / "nowhere" / "key").seal("a secret")
    (tmp_path / "key").write_text("no key")
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        SecretBox(tmp_path / "key").seal("a secret")
