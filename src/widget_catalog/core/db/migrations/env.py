"""Alembic's entry point. `store.migrate` passes the connection, inside a transaction."""

from alembic import context

from widget_catalog.core.db.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
