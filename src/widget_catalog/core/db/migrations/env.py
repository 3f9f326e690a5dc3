"""Alembic's entry point. `store.migrate` passes the connection, inside a transaction."""

from alembic import context

from ..schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
