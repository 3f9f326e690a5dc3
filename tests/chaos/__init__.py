"""Chaos: everything that can happen to one machine, under mixed traffic; then nothing is lost.

    ./dev chaos --minutes 30

Clients publish, yank, count and read, some of them without ever taking in what they asked for.
Meanwhile workers and whole services are killed and replaced, files are imported, the disk fills
up, and the clock jumps. Afterwards everything that was acknowledged must be there.
"""
