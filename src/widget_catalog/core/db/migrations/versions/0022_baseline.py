"""The oldest schema that is upgraded. Databases with it exist; a new one is created from the tables
in the code, with the newest schema.
"""

revision = "0022"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """There is nothing before it."""
