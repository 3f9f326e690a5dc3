"""`widget-catalog migrate`: upgrades a database before the nodes are replaced, and completes it
afterwards.
"""

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from ..catalog.node.context import ConfigOption, DataOption, report, require_catalog, say
from ..core.load_settings import load_settings

if TYPE_CHECKING:
    from ..core.db.engine import Store
    from ..core.db.migrate import Plan
    from ..core.settings import Settings


def migrate(
    *,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print what --expand and --contract would do.")
    ] = False,
    expand: Annotated[
        bool,
        typer.Option("--expand", help="Add what this release needs. Older nodes keep running."),
    ] = False,
    contract: Annotated[
        bool,
        typer.Option(
            "--contract", help="Remove what only older releases need. They can no longer write."
        ),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Upgrade the database in two steps, so that nodes of two releases can run at the same time.

    Run --expand before the first node of the new release starts (a node would do it as well), and
    --contract when no node of the old release is left and you do not want to go back to it. The
    next release also contracts. Choose one option; --plan changes nothing.
    """
    from ..core.db import migrate as migrating

    if plan + expand + contract != 1:
        raise typer.BadParameter("choose one of --plan, --expand and --contract.")
    settings = load_settings({"data": data}, config)
    require_catalog(settings)
    with contextlib.closing(_open_store(settings)) as store:
        found = migrating.plan(store)
        if plan:
            _print_plan(found, migrating.SCHEMA)
        elif expand:
            migrating.migrate(store)
            done = migrating.plan(store)
            say.print(f"[green]The database has the schema {done.schema}.[/] {_writers(done)}")
        else:
            migrating.contract(store)
            say.print(f"[green]Contracted.[/] {_writers(migrating.plan(store))}")


def _open_store(settings: "Settings") -> "Store":
    from ..core.data_folder import DataFolder
    from ..core.db.engine import Store
    from ..core.db.file_lock import COMMAND

    wait_policy = COMMAND._replace(on_wait=report)
    if settings.database:
        from ..core.db.postgresql import postgresql_engine

        return Store(postgresql_engine(settings.database), wait_policy=wait_policy)
    from ..core.db.sqlite import sqlite_engine

    folder = DataFolder(settings.data)
    engine = sqlite_engine(folder.database, may_create=False)
    return Store(engine, folder.writer_lock, wait_policy=wait_policy)


def _print_plan(plan: "Plan", known: str) -> None:
    if plan.schema is None:
        say.print(f"The database is empty. --expand creates the tables of schema {known}.")
        return
    say.print(f"The database has the schema {plan.schema}, this release {known}.")
    say.print(_writers(plan))
    if plan.to_expand:
        say.print("\n--expand applies:")
    for step in plan.to_expand:
        oldest = min(step.oldest_writer, step.revision)
        say.print(
            f"  {step.revision}  {escape(step.about)}\n"
            f"        Afterwards releases from schema {oldest} on can write."
        )
    if plan.to_contract:
        say.print(f"\n--contract completes, so that only schema {known} or newer can write:")
    for step in plan.to_contract:
        say.print(f"  {step.revision}  {escape(step.about)}")
    if not plan.to_expand and not plan.to_contract:
        say.print("There is nothing to do.")


def _writers(plan: "Plan") -> str:
    if plan.oldest_writer == plan.schema:
        return f"Releases before schema {plan.schema} cannot write to it."
    return f"Releases from schema {plan.oldest_writer} on can write to it."
