"""Second factors: passkeys, authenticator apps, recovery codes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...core.db import rows
from ...core.db.engine import Transaction
from ..tables import authenticator_apps, passkeys, recovery_codes


class Passkey(NamedTuple):
    id: str
    account_id: int
    host: str
    credential_id: str
    public_key: str
    sign_count: int
    transports: tuple[str, ...]
    is_backed_up: bool
    name: str
    created_at: int
    last_used_at: int | None


class App(NamedTuple):
    """An authenticator app; the secret is encrypted."""

    account_id: int
    sealed_secret: str
    last_step: int
    created_at: int


class Factors(NamedTuple):
    """Of an account. Recovery codes alone are not a second factor: they replace a lost one."""

    passkeys: tuple[Passkey, ...]
    app: App | None
    recovery_codes: int

    @property
    def has_any(self) -> bool:
        return bool(self.passkeys) or self.app is not None


def find_factors(connection: Connection, account_id: int) -> Factors:
    query = sa.select(passkeys).where(passkeys.c.account_id == account_id)
    ordered = connection.execute(query.order_by(passkeys.c.created_at, passkeys.c.id))
    return Factors(
        tuple(_passkey_from(*row) for row in ordered),
        find_app(connection, account_id),
        rows.count(connection, recovery_codes.c.account_id == account_id),
    )


def has_factor(connection: Connection, account_id: int) -> bool:
    tables = (passkeys, authenticator_apps)
    found = (sa.exists().where(table.c.account_id == account_id) for table in tables)
    return bool(connection.execute(sa.select(sa.or_(*found))).scalar())


def list_accounts_with_factor(connection: Connection) -> set[int]:
    query = sa.union(sa.select(passkeys.c.account_id), sa.select(authenticator_apps.c.account_id))
    return set(connection.execute(query).scalars())


def remove_factors(tx: Transaction, account_id: int) -> None:
    for table in (passkeys, authenticator_apps, recovery_codes):
        rows.delete(tx, table, account_id=account_id)


def add_passkey(tx: Transaction, passkey: Passkey) -> None:
    transports = msgspec.json.encode(passkey.transports).decode()
    rows.insert(tx, passkeys, passkey._asdict() | {"transports": transports})


def find_passkey(connection: Connection, credential_id: str) -> Passkey | None:
    return rows.find(connection, _passkey_from, passkeys, credential_id=credential_id)


def use_passkey(tx: Transaction, passkey: Passkey, sign_count: int, *, is_backed_up: bool) -> bool:
    """Record its use; False if it was used or removed since it was looked up."""
    new = {"sign_count": sign_count, "is_backed_up": is_backed_up, "last_used_at": tx.at_ms}
    return rows.update(tx, passkeys, new, id=passkey.id, sign_count=passkey.sign_count)


def rename_passkey(tx: Transaction, account_id: int, id_: str, name: str) -> bool:
    return rows.update(tx, passkeys, {"name": name}, account_id=account_id, id=id_)


def remove_passkey(tx: Transaction, account_id: int, id_: str) -> bool:
    return rows.delete(tx, passkeys, account_id=account_id, id=id_)


def find_app(connection: Connection, account_id: int) -> App | None:
    return rows.find(connection, App, authenticator_apps, account_id=account_id)


def list_apps(connection: Connection) -> list[App]:
    query = sa.select(authenticator_apps).order_by(authenticator_apps.c.account_id)
    return [App(*row) for row in connection.execute(query)]


def put_app(tx: Transaction, account_id: int, sealed_secret: str, last_step: int) -> None:
    """Set up an authenticator app, replacing the old one."""
    remove_app(tx, account_id)
    app = App(account_id, sealed_secret, last_step, tx.at_ms)
    rows.insert(tx, authenticator_apps, app._asdict())


def use_step(tx: Transaction, account_id: int, step: int) -> bool:
    """Record the use of this step's code; False if it, or a later one, was used before."""
    is_new = authenticator_apps.c.last_step < step
    return rows.update(tx, authenticator_apps, {"last_step": step}, is_new, account_id=account_id)


def remove_app(tx: Transaction, account_id: int) -> bool:
    return rows.delete(tx, authenticator_apps, account_id=account_id)


def set_recovery_codes(tx: Transaction, account_id: int, hashes: Sequence[str]) -> None:
    rows.delete(tx, recovery_codes, account_id=account_id)
    for code_hash in hashes:
        rows.insert(tx, recovery_codes, {"account_id": account_id, "code_hash": code_hash})


def has_recovery_code(connection: Connection, account_id: int, code_hash: str) -> bool:
    is_own = recovery_codes.c.account_id == account_id
    return rows.exists(connection, is_own, recovery_codes.c.code_hash == code_hash)


def use_recovery_code(tx: Transaction, account_id: int, code_hash: str) -> bool:
    """Use up a code; False if it does not exist."""
    return rows.delete(tx, recovery_codes, account_id=account_id, code_hash=code_hash)


def _passkey_from(*columns: Any) -> Passkey:
    passkey = Passkey(*columns)
    transports = msgspec.json.decode(columns[Passkey._fields.index("transports")])
    return passkey._replace(transports=tuple(transports))
