#!/usr/bin/env python3
"""Several CPUs: which of them are measured, what they are called, and CPUs that come and go. The machine has two sockets of
two CPUs each; while one CPU executes an instruction, the cycle counters of the others go on."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from guest import *  # noqa: E402,F403
from harness import *  # noqa: E402,F403

CPU = '/sys/devices/system/cpu/cpu'
# Twenty million instructions on each CPU. Samples are few: an idle CPU has no ticks, and without a tick the kernel stops sampling after
# 400 of them.
EVERYWHERE = 'for mask in 1 2 4 8; do taskset $mask loop 10000000; done'


def loops(report):
    """Of `report -n -s cpu,comm`: CPU -> samples in the program `loop`."""
    return {int(cpu): int(n) for n, cpu in re.findall(r'^ +\d+\.\d+% +(\d+) +(\d+) +loop *$', report.out, re.M)}


def cpus(report):
    """Of the same: the CPUs that anything was sampled on."""
    return {int(cpu) for cpu in re.findall(r'^ +\d+\.\d+% +\d+ +(\d+) ', report.out, re.M)}


@guest(cpus=4, record=f"pace record -a -e cycles -c 1000000 sh -c '{EVERYWHERE}'", report='pace report -n -s cpu,comm')
def every_cpu_is_sampled(g):
    seen = loops(g.report)
    assert g.record.status == 0 and sorted(seen) == [0, 1, 2, 3] and all(20 <= n <= 60 for n in seen.values()), g.report


@guest(cpus=4, record=f"pace record -C 1,3 -e cycles -c 1000000 sh -c '{EVERYWHERE}'", report='pace report -n -s cpu,comm')
def only_the_cpus_asked_for_are_sampled(g):
    assert sorted(loops(g.report)) == [1, 3] and cpus(g.report) == {1, 3}, g.report


@guest(cpus=4, record='pace record -a -e cycles -c 10000000 loop 1000', header='pace report --header-only -I')
def sockets_and_cores_are_in_the_recording(g):
    sockets = re.findall(r'^# sibling (?:sockets|cores) +: (.*)$', g.header.out, re.M)
    assert sockets == ['0-1', '2-3'], g.header
    assert re.search(r'^# CPU 1: Core ID 1, .*Socket ID 0$', g.header.out, re.M), g.header
    assert re.search(r'^# CPU 2: Core ID 0, .*Socket ID 1$', g.header.out, re.M), g.header


@guest(cpus=4, off=f'echo 0 >{CPU}2/online', record="pace record -a -e cycles -c 1000000 -o all sh -c 'taskset 2 loop 10000000'",
       one='pace record -C 2 -e cycles true', range='pace record -C 0-3 -e cycles true', on=f'echo 1 >{CPU}2/online',
       report='pace report -i all -n -s cpu,comm', header='pace report -i all --header-only')
def a_cpu_that_is_off_is_left_out_or_named(g):
    assert g.record.status == 0 and sorted(loops(g.report)) == [1] and cpus(g.report) == {0, 1, 3}, (g.record, g.report)
    assert '# nrcpus online : 3\n# nrcpus avail : 4\n' in g.header.out, g.header
    for done, asked in ((g.one, '2'), (g.range, '0-3')):
        assert done.status == 1 and f'-C {asked}: CPU 2 is not online (online are 0-1,3)' in done.err, done


@guest(cpus=4, record=f"pace record -a -e cycles -c 1000000 sh -c 'taskset 2 loop 10000000; echo 0 >{CPU}1/online; taskset 8 loop 10000000; "
                      f"echo 1 >{CPU}1/online; taskset 4 loop 10000000'", report='pace report -n -s cpu,comm')
def a_cpu_that_goes_off_takes_nothing_with_it(g):
    seen = loops(g.report)
    assert g.record.status == 0 and sorted(seen) == [1, 2, 3] and all(n >= 20 for n in seen.values()), (g.record, g.report)


# Samples name their event by a number that a counter has anew when it is opened again.
@guest(cpus=4, record=f"pace record -a -e cycles,cpu-migrations -c 1000000 sh -c 'taskset 2 loop 10000000; echo 0 >{CPU}1/online; sleep 2; "
                      f"taskset 8 loop 10000000; echo 1 >{CPU}1/online; sleep 2; taskset 2 loop 30000000'", report='pace report -n -s cpu,comm',
       script='pace script -F comm,cpu,event')
def a_cpu_that_comes_back_is_recorded_again(g):
    seen = loops(g.report)
    assert g.record.status == 0 and 'CPU 1 went off: nothing is recorded there until it is back' in g.record.err, g.record
    assert 'CPU 1 is back: what runs there is recorded again' in g.record.err, g.record
    # The 10 million before and the 30 million behind are about 20 and 60 samples.
    assert seen.get(1, 0) >= 50 and seen.get(3, 0) >= 15, (g.record, g.report)
    assert re.search(r'^ +loop +\[001\] +cycles: *$', g.script.out, re.M), g.script


# Ten programs on one CPU: each is a dozen page faults there.
FAULTS = 'taskset 2 sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do loop 1000000; done"'


# On the CPU that is back, both what is waited for and what is counted. The second shell begins there and has faults of its own: what
# --when does for them is over, and its rest too (the length of the ring), when the programs begin four seconds later.
@guest(cpus=4, event=f"pace record -C 1 -e cycles -c 1000000 -o event --ring 5 --switch-output-event page-faults:u sh -c 'echo 0 >{CPU}1/online; sleep 2; "
                     f"echo 1 >{CPU}1/online; sleep 2; {FAULTS}; sleep 1'",
       when=f"pace record -C 1 -e cycles -c 1000000 -o when --ring 1 --when 'page-faults/s>5' taskset 2 sh -c 'echo 0 >{CPU}1/online; sleep 2; "
            f"echo 1 >{CPU}1/online; sleep 2; {FAULTS}; sleep 1'")
def a_cpu_that_comes_back_triggers_again(g):
    for done, word in ((g.event, 'Dump '), (g.when, '--when page-faults/s>5: page-faults/s ')):
        assert done.status == 0, done
        before, back, behind = done.err.partition('CPU 1 is back: what runs there is recorded again')
        assert back and word in behind, done
    assert word in before, done


if __name__ == '__main__':
    main()
