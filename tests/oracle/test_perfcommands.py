#!/usr/bin/env python3
"""perf's smaller commands: the same answers, and files that both tools can use."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403


@test
def functions_of_the_kernel_are_where_perf_says():
    perf_works()
    needs_root()
    names = ['schedule', 'vfs_read', 'ksys_write', 'no_such_function']
    ours, theirs = pace('kallsyms', *names), run('perf', 'kallsyms', *names)
    assert ours.out == theirs.out and ours.status == theirs.status == 0 and 'not found' in ours.out, (ours, theirs)
    assert pace('kallsyms').status == 2


main()
