"""Which nodes use a database, and whether they have the same secret.

A node's follower sends a fingerprint of its secrets as its application name. So running nodes know
about each other, and nothing is stored. Any user of the server can choose such a name, so only
those who may write to the catalog count.
"""

import hmac
from collections.abc import Iterable, Sequence

_FOLLOWER = "widget-catalog follower"
# PostgreSQL truncates application names to 63 characters.
_SHOWN = 4

OTHER_FOLLOWERS = f"""
    SELECT application_name, coalesce(host(client_addr), 'the machine of the database')
    FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, '{_FOLLOWER} ')
        AND has_table_privilege(usesysid, to_regclass('changes'), 'INSERT')
    ORDER BY 2, 1
"""  # noqa: S608


def follower_name(secrets: Sequence[str]) -> str:
    return f"{_FOLLOWER} {','.join(_fingerprints(secrets))}"


def find_strangers(followers: Iterable[Sequence[str]], secrets: Sequence[str]) -> list[str]:
    """The addresses of nodes that do not accept this one's signatures, or vice versa.

    `followers` are rows of `OTHER_FOLLOWERS`.
    """
    own = _fingerprints(secrets)
    found = set()
    for name, address in followers:
        theirs = name.removeprefix(_FOLLOWER).strip().split(",")
        if own[0] not in theirs or theirs[0] not in own:
            found.add(address)
    return sorted(found)


def describe_strangers(addresses: Sequence[str]) -> str:
    return (
        f"There is a node with another secret_key at {', '.join(addresses)}. Uploads, sign-ins and "
        "codes of authenticator apps that change nodes are refused until all nodes have the same."
    )


def _fingerprints(secrets: Sequence[str]) -> list[str]:
    """Short, and useless for finding the secret, which is random."""
    return [hmac.digest(it.encode(), b"fingerprint", "sha256").hex()[:8] for it in secrets[:_SHOWN]]
