"""Passwords at the lowest cost, for tests that create hundreds of accounts in this process."""

import contextlib
from collections.abc import Iterator

import argon2
import pytest

from widget_catalog.core import credentials


@contextlib.contextmanager
def quick_passwords() -> Iterator[None]:
    """The same hashing with other parameters. `tests/core/test_credentials.py` checks
    those of the service."""
    with pytest.MonkeyPatch.context() as patch:
        quick = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
        patch.setattr(credentials, "_hasher", quick)
        credentials._nobodys_hash.cache_clear()
        yield
    credentials._nobodys_hash.cache_clear()
