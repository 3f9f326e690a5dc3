"""Alembic's entry. The connection, inside a transaction, is handed over by `store.migrate`."""

from alembic import context

from widget_catalog.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
