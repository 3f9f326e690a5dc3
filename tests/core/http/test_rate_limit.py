"""The rule of the rate limit, and the size of its table."""

import time

from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.core.http.middleware import MAX_CLIENTS, FixedWindows

_REQUESTS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 7)), max_size=200)


@given(_REQUESTS, st.integers(1, 4), st.integers(1, 20))
def test_a_client_is_let_in_as_often_as_its_window_has_room(
    requests: list[tuple[str, int]], amount: int, length_s: int
) -> None:
    """Compared with a simple implementation that scans all previous requests."""
    windows = FixedWindows(amount, length_s)
    admitted: dict[str, list[int]] = {}
    now_s = 0
    for client, pause_s in requests:
        now_s += pause_s
        came = admitted.setdefault(client, [])
        began = 0
        for i, at in enumerate(came):
            if at >= came[began] + length_s:
                began = i
        in_window = [it for it in came[began:] if now_s < came[began] + length_s]

        wait_s = windows.hit(client, now_s)

        if len(in_window) < amount:
            assert wait_s is None
            came.append(now_s)
        else:
            assert wait_s == came[began] + length_s - now_s > 0


@given(_REQUESTS, st.integers(1, 4), st.integers(1, 20), st.integers(1, 5))
def test_in_a_full_table_nobody_is_refused_who_has_not_used_up_a_window(
    requests: list[tuple[str, int]], amount: int, length_s: int, most_clients: int
) -> None:
    windows = FixedWindows(amount, length_s, most_clients)
    admitted: list[tuple[str, int]] = []
    now_s = 0
    for client, pause_s in requests:
        now_s += pause_s
        wait_s = windows.hit(client, now_s)
        assert len(windows) <= most_clients
        if wait_s is None:
            admitted.append((client, now_s))
            continue
        lately = [at for it, at in admitted if it == client and at > now_s - length_s]
        assert len(lately) >= amount
        assert 0 < wait_s <= length_s


def test_what_has_ended_leaves_the_table_little_by_little() -> None:
    windows = FixedWindows(1, 60)
    for i in range(1000):
        windows.hit(str(i), 0)
    for i in range(1000):
        windows.hit(f"later {i}", 60)

    assert len(windows) == 1000


def test_a_request_costs_the_same_however_many_clients_there_were() -> None:
    windows = FixedWindows(300, 60)
    batch = 10_000

    def cost(first: int) -> float:
        clients = [f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}" for i in range(first, first + batch)]
        began = time.process_time()
        for client in clients:
            windows.hit(client, 0)
        return time.process_time() - began

    costs = [cost(i * batch) for i in range(40)]

    assert len(windows) == MAX_CLIENTS
    # It was four times as much after 150,000.
    assert min(costs[30:]) < 3 * min(costs[:10]), costs
