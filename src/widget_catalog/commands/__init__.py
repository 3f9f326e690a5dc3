"""The operator's commands about people and about what is published."""
