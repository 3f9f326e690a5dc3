"""Networks from which the owner of an account has signed in. Attackers elsewhere can use up the
attempts of an account, but not those of its owner there.

A network is known for what was proved there: with a second factor for everything, with a password
for that password. So nobody can make networks known, and then guess from them what they lack.
"""

from ..core.credentials import hash_secret
from ..core.db.engine import Store, Transaction
from ..core.networks import network_of
from .session_store import add_attempts, forgive_attempts, list_attempts

_DAY_MS = 86_400_000
_FACTOR_KNOWN_FOR_MS = 30 * _DAY_MS
# Longer than a session lasts by default, so that the network where it ends is still known.
_PASSWORD_KNOWN_FOR_MS = 120 * _DAY_MS


def remember_factor_network(tx: Transaction, account_id: int, address: str) -> None:
    """Record that a second factor of the account was used from this network."""
    _remember(tx, _factor_key(account_id, address), _FACTOR_KNOWN_FOR_MS)


def remember_password_network(
    tx: Transaction, account_id: int, address: str, password_hash: str
) -> None:
    """Record that somebody who knows this password has signed in from this network."""
    key = _password_key(account_id, address, password_hash)
    _remember(tx, key, _PASSWORD_KNOWN_FOR_MS)


def is_known_by_factor(store: Store, account_id: int, address: str) -> bool:
    return _is_known(store, _factor_key(account_id, address), _FACTOR_KNOWN_FOR_MS)


def is_known_by_password(
    store: Store, account_id: int, address: str, password_hash: str | None
) -> bool:
    """Whether this password, or a second factor of the account, was used from this network."""
    if is_known_by_factor(store, account_id, address):
        return True
    key = _password_key(account_id, address, password_hash or "")
    return _is_known(store, key, _PASSWORD_KNOWN_FOR_MS)


def _is_known(store: Store, key: str, known_for_ms: int) -> bool:
    with store.reading() as connection:
        return bool(list_attempts(connection, [key], store.now_ms(), known_for_ms))


def _remember(tx: Transaction, key: str, known_for_ms: int) -> None:
    forgive_attempts(tx, key, [])  # The time starts again with every sign-in.
    add_attempts(tx, [key], known_for_ms)


def _factor_key(account_id: int, address: str) -> str:
    return f"known {account_id} {network_of(address)}"


def _password_key(account_id: int, address: str, password_hash: str) -> str:
    mark = hash_secret(f"known by {password_hash}")[:32]
    return f"known {account_id} {network_of(address)} {mark}"
