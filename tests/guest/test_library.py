#!/usr/bin/env python3
"""libpace with hardware counters, used by programs of tests/guest/programs."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

guest_program('counting', 'tests/guest/programs/test_counting.c')
guest_program('grouping', 'tests/guest/programs/test_groups.c')

if __name__ == '__main__':
    main()
