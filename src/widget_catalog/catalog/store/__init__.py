"""The source of truth of widgets: rows, events, the change feed, counts."""
