"""Second factors: passkeys, authenticator apps, recovery codes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
from sqlalchemy.engine import Connection

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
    """The factors of an account. Recovery codes alone are not a second factor: they replace a lost
    one.
    """

    passkeys: tuple[Passkey, ...]
    app: App | None
    recovery_codes: int

    @property
    def has_any(self) -> bool:
        return bool(self.passkeys) or self.app is not None


def find_factors(connection: Connection, account_id: int) -> Factors:
    query = (
        sa.select(passkeys)
        .where(passkeys.c.account_id == account_id)
        .order_by(passkeys.c.created_at, passkeys.c.id)
    )
    left = sa.select(sa.func.count()).where(recovery_codes.c.account_id == account_id)
    return Factors(
        tuple(_passkey_from(row) for row in connection.execute(query)),
        find_app(connection, account_id),
        connection.execute(left).scalar_one(),
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
        tx.connection.execute(sa.delete(table).where(table.c.account_id == account_id))


def add_passkey(tx: Transaction, passkey: Passkey) -> None:
    row = passkey._asdict() | {"transports": msgspec.json.encode(passkey.transports).decode()}
    tx.connection.execute(sa.insert(passkeys).values(row))


def find_passkey(connection: Connection, credential_id: str) -> Passkey | None:
    query = sa.select(passkeys).where(passkeys.c.credential_id == credential_id)
    row = connection.execute(query).first()
    return _passkey_from(row) if row is not None else None


def use_passkey(tx: Transaction, passkey: Passkey, sign_count: int, *, is_backed_up: bool) -> bool:
    """Record its use; False if it was used or removed since it was looked up."""
    here = sa.and_(passkeys.c.id == passkey.id, passkeys.c.sign_count == passkey.sign_count)
    values = {"sign_count": sign_count, "is_backed_up": is_backed_up, "last_used_at": tx.at_ms}
    return tx.connection.execute(sa.update(passkeys).where(here).values(values)).rowcount > 0


def rename_passkey(tx: Transaction, account_id: int, id_: str, name: str) -> bool:
    query = sa.update(passkeys).where(_own_passkey(account_id, id_)).values(name=name)
    return tx.connection.execute(query).rowcount > 0


def remove_passkey(tx: Transaction, account_id: int, id_: str) -> bool:
    return (
        tx.connection.execute(sa.delete(passkeys).where(_own_passkey(account_id, id_))).rowcount > 0
    )


def find_app(connection: Connection, account_id: int) -> App | None:
    query = sa.select(authenticator_apps).where(authenticator_apps.c.account_id == account_id)
    row = connection.execute(query).first()
    return App(*row) if row is not None else None


def list_apps(connection: Connection) -> list[App]:
    query = sa.select(authenticator_apps).order_by(authenticator_apps.c.account_id)
    return [App(*row) for row in connection.execute(query)]


def put_app(tx: Transaction, account_id: int, sealed_secret: str, last_step: int) -> None:
    """Set up an authenticator app, replacing the old one."""
    remove_app(tx, account_id)
    row = App(account_id, sealed_secret, last_step, tx.at_ms)
    tx.connection.execute(sa.insert(authenticator_apps).values(row._asdict()))


def use_step(tx: Transaction, account_id: int, step: int) -> bool:
    """Record the use of this step's code; False if it, or a later one, was used before."""
    query = (
        sa.update(authenticator_apps)
        .where(authenticator_apps.c.account_id == account_id, authenticator_apps.c.last_step < step)
        .values(last_step=step)
    )
    return tx.connection.execute(query).rowcount > 0


def remove_app(tx: Transaction, account_id: int) -> bool:
    here = authenticator_apps.c.account_id == account_id
    return tx.connection.execute(sa.delete(authenticator_apps).where(here)).rowcount > 0


def set_recovery_codes(tx: Transaction, account_id: int, hashes: Sequence[str]) -> None:
    here = recovery_codes.c.account_id == account_id
    tx.connection.execute(sa.delete(recovery_codes).where(here))
    rows = [{"account_id": account_id, "code_hash": it} for it in hashes]
    if rows:
        tx.connection.execute(sa.insert(recovery_codes), rows)


def has_recovery_code(connection: Connection, account_id: int, code_hash: str) -> bool:
    query = sa.select(recovery_codes.c.code_hash).where(_own_code(account_id, code_hash))
    return connection.execute(query).first() is not None


def use_recovery_code(tx: Transaction, account_id: int, code_hash: str) -> bool:
    """Use up a code; False if it does not exist."""
    query = sa.delete(recovery_codes).where(_own_code(account_id, code_hash))
    return tx.connection.execute(query).rowcount > 0


def _own_passkey(account_id: int, id_: str) -> sa.ColumnElement[bool]:
    return sa.and_(passkeys.c.account_id == account_id, passkeys.c.id == id_)


def _own_code(account_id: int, code_hash: str) -> sa.ColumnElement[bool]:
    return sa.and_(
        recovery_codes.c.account_id == account_id, recovery_codes.c.code_hash == code_hash
    )


def _passkey_from(row: Any) -> Passkey:
    values = row._asdict()
    transports = msgspec.json.decode(row.transports, type=tuple[str, ...])
    return Passkey(**values | {"transports": transports})
