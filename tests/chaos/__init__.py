"""Chaos: every error of one machine, under mixed traffic; then a check that nothing is lost.

    ./dev chaos --minutes 30

Clients publish, yank, count and read, and some never read their responses.
Meanwhile workers and whole services are killed and replaced, files are imported, the disk fills
up, and the clock jumps. Afterwards everything that was acknowledged must be there.
"""
