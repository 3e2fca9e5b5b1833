#!/usr/bin/env python3
"""`pace doctor` with hardware counters: what it says works does work, for the users it names."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403


def works(done):
    """What is claimed: the beginning of a line -> whether it works."""
    return {text.strip(): word == 'ok' for word, text in re.findall(r'^  (ok|no)  (.*?)(?: \(.*| +\[\d+\].*)?$', done.out, re.M)}


@guest(doctor='pace doctor', count='pace stat -e cycles,instructions true', sample='pace record -e cycles true', system='pace record -a true',
       probe="echo 'p:mine do_sys_openat2' >/sys/kernel/tracing/kprobe_events; pace stat -e kprobes:mine cat /etc/passwd; "
             'echo >/sys/kernel/tracing/kprobe_events')
def root_is_told_that_counters_and_the_kernel_can_be_measured(g):
    said = works(g.doctor)
    for claim, done in (('hardware counters: cycles, instructions, misses', g.count), ('sample by cycles', g.sample),
                        ('all processes', g.system), ('count tracepoints in your own programs', g.probe)):
        assert said[claim] and done.status == 0 and '<not supported>' not in done.err, (claim, g.doctor, done)
    assert not said['branch stacks'], g.doctor
    # Its PMU takes :pp, and no sample says that it is exact (bit 14 of misc).
    assert not said['samples without skid'] and 'ignores it' in g.doctor.out, g.doctor
    assert re.search(r'^  machine +virtual: .*, with a PMU$', g.doctor.out, re.M) and 'armv8_pmuv3' in g.doctor.out, g.doctor


@guest(two="su nobody -c 'pace doctor'", two_counts="su nobody -c 'pace stat -e cycles:u true'", two_system="su nobody -c 'pace stat -a true'",
       three="sysctl -qw kernel.perf_event_paranoid=3; su nobody -c 'pace doctor'", three_counts="su nobody -c 'pace stat -e cycles:u true'")
def users_are_told_what_the_paranoid_level_leaves_them(g):
    two, three = works(g.two), works(g.three)
    assert two['hardware counters: cycles, instructions, misses'] and g.two_counts.status == 0, (g.two, g.two_counts)
    assert not two['all processes'] and g.two_system.status == 1, (g.two, g.two_system)
    assert 'sudo sysctl kernel.perf_event_paranoid=1' in g.two.out, g.two
    assert not any(three.values()) and g.three.status == 1 and g.three_counts.status == 1, (g.three, g.three_counts)
    assert 'perf_event_paranoid is 3, measuring at all needs 2 or less' in g.three.out, g.three


@guest(forbidden='pace doctor', allowed='sysctl -qw kernel.perf_user_access=1; pace doctor')
def reads_without_a_system_call_hang_on_one_setting(g):
    claim = 'read counters without a system call'
    assert not works(g.forbidden)[claim] and 'sudo sysctl kernel.perf_user_access=1' in g.forbidden.out, g.forbidden
    assert works(g.allowed)[claim], g.allowed


if __name__ == '__main__':
    main()
