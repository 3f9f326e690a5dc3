"""The database: engine, transactions, locks, migrations; SQLite or PostgreSQL."""
