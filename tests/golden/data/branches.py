#!/usr/bin/env python3
"""Writes branches.data and branches-later.data: made-up branches of wordcount, with cycles. Later, the loop of hash_word takes longer."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../../oracle'))
import handmade  # noqa: E402

LOOP, LOOP_END, CALLED, CALL = 0x11be, 0x11d8, 0x11ae, 0x1391
MAPPED = ('/tmp/pace-golden/wordcount', 0x1000, 0x1000, 0x1000)


def branch(start, to, cycles):
    return (start, to, cycles << 4 | 2)


def samples(turn):
    """The newest branch first. Every third sample is in next_random, after a return."""
    for i in range(12):
        hashing = [branch(LOOP_END, LOOP, turn + i % 3), branch(LOOP_END, LOOP, turn), branch(CALL, CALLED, 8), branch(0x11ad, 0x130a, 3)]
        yield {'ip': LOOP + 3, 'branches': hashing} if i % 3 else {'ip': 0x1310, 'branches': hashing[3:] + [branch(0x1305, 0x1189, 5 + i)]}


for name, turn in (('branches.data', 6), ('branches-later.data', 11)):
    handmade.write(os.path.join(HERE, name), handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD | handmade.BRANCH_STACK, samples(turn), branch_type=1 << 3,
                   program=MAPPED)
