"""Passwords at the lowest cost: the real one is a quarter of a second of CPU time for each account
and each sign-in. `tests/core/test_credentials.py` checks it.
"""

import contextlib
from collections.abc import Iterator

import argon2

from widget_catalog.core import credentials

# Set for a service or command of a test that needs the real cost.
REAL_PASSWORDS = "WIDGET_TESTS_REAL_PASSWORDS"
REAL = credentials._hasher
QUICK = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def use_hasher(hasher: argon2.PasswordHasher) -> None:
    credentials._hasher = hasher
    credentials._nobodys_hash.cache_clear()


@contextlib.contextmanager
def quick_passwords() -> Iterator[None]:
    """In this process."""
    before = credentials._hasher
    use_hasher(QUICK)
    try:
        yield
    finally:
        use_hasher(before)
