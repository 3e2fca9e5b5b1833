#!/usr/bin/env python3
"""`pace record` where there are hardware counters: what they sample, and the recording read on another machine."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403


@guest(record='pace record -e cycles -c 100000 loop 10000000', report='pace report -s sym')
def cycles_are_sampled_at_every_period(g):
    # 20 million instructions in the loop, at one cycle each; starting the program costs some more
    assert g.record.status == 0 and 200 <= samples_said(g.record) <= 220, g.record
    top = re.search(r'^ +(\d+\.\d+)%  \[\.\] spin', g.report.out, re.M)
    assert top and float(top.group(1)) > 90, g.report


if __name__ == '__main__':
    main()
