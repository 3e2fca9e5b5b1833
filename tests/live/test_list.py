#!/usr/bin/env python3
"""What `pace list` says about this machine, compared with what happens here."""
import fcntl
import json
import os
import pty
import re
import struct
import sys
import termios

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403


def listed(*words):
    result = pace('list', '--json', *words)
    assert result.status == 0, result
    return json.loads(result.out)


def on_terminal(columns, *args):
    """The lines that pace prints on a terminal of that width."""
    pid, fd = pty.fork()
    if not pid:
        os.execv(PACE, [PACE, *args])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    out = b''
    try:
        while chunk := os.read(fd, 65536):
            out += chunk
    except OSError:
        pass
    os.close(fd)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, out
    return out.decode().replace('\r\n', '\n').split('\n')


@test
def what_is_said_to_open_can_be_recorded_and_what_is_not_cannot():
    can_record()
    events = {event['name']: event for event in listed('sw', 'hw')}
    for name in ('cpu-clock', 'page-faults', 'context-switches', 'cycles', 'instructions'):
        result = pace('record', '-q', '-c', '100000', '-e', name, '-o', 'x.data', 'true')
        assert (result.status == 0) == events[name]['opens'] or name in ('cycles', 'instructions'), (name, result, events[name])
        # record falls back to cpu-clock without a PMU, and says so.
        if result.status == 0 and name in ('cycles', 'instructions'):
            opened = pace('evlist', '-i', 'x.data').out.split()[0].split(':')[0]
            assert (opened == name) == events[name]['opens'], (name, opened, events[name])


@test
def every_event_has_an_encoding_and_a_reason_if_it_does_not_open():
    for event in listed('hw', 'sw', 'cache', 'msr'):
        if event['kind'] == 'raw':
            assert event['encoding'] is None and event['opens'] is None, event
            continue
        assert event['encoding']['type'] >= 0 and int(event['encoding']['config'], 16) >= 0, event
        assert event['opens'] is True or event['reason'], event


@test
def the_encoding_of_a_tracepoint_is_its_id():
    root = '/sys/kernel/tracing/events/sched/sched_switch'
    if not os.access(root + '/id', os.R_OK):
        skip('no tracefs that we may read')
    event, = listed('sched:sched_switch')
    assert event['encoding'] == {'type': 2, 'config': hex(int(open(root + '/id').read())), 'config1': '0x0', 'config2': '0x0'}, event
    text = pace('list', '--details', 'sched:sched_switch').out
    assert re.search(r'fields: prev_comm prev_pid .*next_comm', text), text


@test
def tracepoints_are_counted_and_listed_when_they_are_asked_for():
    if not os.access('/sys/kernel/tracing/events', os.R_OK):
        skip('no tracefs that we may read')
    summary = pace('list').out
    count = int(re.search(r'^([\d,]+) tracepoints in \d+ systems: ', summary, re.M).group(1).replace(',', ''))
    assert 'sched:sched_switch' not in summary
    names = pace('list', 'tracepoint', '--raw-dump').out.split()
    assert len(names) == count and 'sched:sched_switch' in names
    assert all(name.startswith('sched:') for name in pace('list', 'sched', '--raw-dump').out.split())


@test
def a_user_without_rights_is_told_what_is_missing():
    needs_root()
    needs('setpriv')
    rights_stay()
    if open('/proc/sys/kernel/perf_event_paranoid').read().strip() != '2':
        skip('perf_event_paranoid is not 2')
    result = run(*NOBODY, PACE, 'list', 'sw')
    assert result.status == 0 and re.search(r'^  page-faults OR faults +user ', result.out, re.M), result
    result = run(*NOBODY, PACE, 'list', '--details', 'page-faults')
    words = ' '.join(result.out.split())
    assert "opens here for user space only: opening 'page-faults': access denied: perf_event_paranoid is 2" in words, result
    result = run(*NOBODY, PACE, 'list', 'sched:*')
    if os.stat('/sys/kernel/tracing').st_mode & 0o5 != 0o5:
        assert result.status == 1 and 'which only root may read' in result.err, result


@test
def no_line_is_wider_than_the_terminal():
    data = os.path.join(TOP, 'tests/golden/data')
    os.environ['PACE_CPUID'] = 'GenuineIntel-6-55-4'
    try:
        for columns in (40, 60, 80, 132):
            for words in ([], ['--details', 'pmu'], ['--raw', '--all'], ['--all']):
                lines = on_terminal(columns, 'list', '--sysfs', f'{data}/sysfs', '--events-dir', f'{data}/events/linux', *words)
                assert len(lines) > 10, lines
                # One word that is longer than the line cannot be broken.
                wide = [line for line in lines if len(line) > columns and (len(line.split()) > 1 or '--details' not in words)]
                assert not wide, (columns, wide)
    finally:
        del os.environ['PACE_CPUID']


@test
def a_list_can_be_written_to_a_file_and_perf_s_options_are_taken():
    plain = pace('list', '--no-desc', 'sw')
    result = pace('list', '-o', 'list.txt', '--debug', '--no-desc', 'sw')
    assert not result.status and not result.out and open('list.txt').read() == plain.out, result
    assert pace('list', '-d', 'sw').out == pace('list', 'sw').out
    full = pace('list', '-o', '/dev/full', 'sw')
    assert full.status == 1 and "'/dev/full'" in full.err, full
    for args, message in ((['--cputype', 'x'], 'core or atom'), (['-o', 'no/such', 'sw'], "'no/such'")):
        refused = pace('list', *args)
        assert refused.status and message in refused.err, refused


main()
