#!/usr/bin/env python3
"""Counts in perf.data files: `stat report` of both tools prints what `stat record` of either tool wrote."""
import json
import os
import random
import re
import resource
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

EVENTS = 'task-clock,page-faults,context-switches'


def lines(text):
    """The rows of counts, without what the two tools lay out differently on purpose."""
    rows = []
    for line in text.split('\n'):
        # perf calls an interval in which the task slept <not counted>; its count is 0.
        line = re.sub(r'<not counted>( msec)?', '0', line)
        row = re.match(r'(?P<time>\s*\d+\.\d{9})?(?P<cpu>CPU\d+)?\s+(?P<n>[\d,.]+|<not supported>)(?: msec)?\s+(?P<name>[a-z][\w:-]*)', line)
        if row:
            n = row['n'].replace(',', '')
            rows.append((row['time'] and float(row['time']), row['cpu'], n if n[0] == '<' else float(n), row['name']))
    return rows


def by_both(path, *args):
    ours = pace('stat', 'report', '-i', path, *args)
    theirs = run('perf', 'stat', 'report', '-i', path, *args)
    assert ours.status == 0 and not ours.err, ours
    # perf prints its reports on standard error.
    ours, theirs = lines(ours.out), lines(theirs.err + theirs.out)
    times = sorted({line[0] for line in ours if line[0] is not None})
    if len(times) > 1 and ours != theirs:
        # perf 6.12 adds up the intervals before, which 6.1 does not, nor either of them while it records.
        assert [line[:2] + line[3:] for line in ours] == [line[:2] + line[3:] for line in theirs], (ours, theirs)
        first = [[line for line in both if line[0] == times[0]] for both in (ours, theirs)]
        assert first[0] == first[1], first
        return ours, ours
    return ours, theirs


@test
def what_perf_recorded_reads_the_same():
    needs('perf')
    for args, report in (((), ()), (('-a',), ()), (('-a',), ('-A',)), (('-a', '-A'), ()), (('-a', '--per-socket'), ()), (('-I', '50'), ())):
        if '-a' in args:
            needs_root()
        assert run('perf', 'stat', 'record', '-o', 'perf.data', '-e', EVENTS, *args, 'sleep', '0.12').status == 0
        ours, theirs = by_both('perf.data', *report)
        if '--per-socket' in args:
            ours = theirs = None  # the layouts differ; that ours is right is shown by the sums below
        assert ours == theirs and ours != [], (args, ours, theirs)


@test
def what_pace_recorded_perf_reads_the_same():
    needs('perf')
    for args, report in (((), ()), (('-a',), ()), (('-a',), ('-A',)), (('-I', '50'), ()), (('-e', 'cycles'), ())):
        if '-a' in args:
            needs_root()
        result = pace('stat', 'record', '-o', 'perf.data', '-e', EVENTS, *args, 'sleep', '0.12')
        assert result.status == 0, result
        ours, theirs = by_both('perf.data', *report)
        assert ours == theirs and ours, (args, ours, theirs)
        # And both are what was said when it was recorded.
        if not report:
            said = lines(result.err)
            assert said[:len(ours)] == ours, (said, ours)


@test
def rows_of_cpus_add_up_to_those_of_sockets_and_all():
    needs_root()
    assert pace('stat', 'record', '-o', 'perf.data', '-a', '-e', 'context-switches,cpu-clock', 'sleep', '0.1').status == 0
    sums = []
    for scope in ((), ('-A',), ('--per-core',), ('--per-socket',), ('--per-die',), ('--per-node',)):
        rows = [json.loads(line) for line in pace('stat', 'report', '-j', *scope).out.splitlines()]
        counts = [row for row in rows if row['kind'] == 'count']
        sums.append({event: sum(row['raw'] for row in counts if row['event'] == event) for event in ('context-switches', 'cpu-clock')})
        assert all(row['state'] == 'counted' for row in counts)
    assert all(s == sums[0] for s in sums), sums


@test
def a_recording_without_counts_says_what_has_them():
    result = pace('stat', 'report', '-i', os.path.join(TOP, 'tests/golden/data/wordcount.data'))
    assert result.status == 1 and "'stat report' shows what 'stat record' wrote" in result.err, result


@test
def a_full_disk_stops_the_command_from_starting_or_keeps_the_table():
    result = pace('stat', 'record', '-o', '/dev/full', '-e', 'page-faults', 'touch', 'ran')
    assert result.status == 1 and '/dev/full' in result.err and not os.path.exists('ran'), result
    # 64 KiB are full after some of 1000 intervals.
    result = run('sh', '-c', f'ulimit -f 128; exec {PACE} stat record -I 1 -e page-faults,cs,task-clock --summary sleep 1')
    check_sane(result)
    assert result.status == 1 and 'limit' in result.err and 'seconds time elapsed' in result.err, result
    kept = pace('stat', 'report')
    assert kept.status == 0 and len(lines(kept.out)) >= 9, kept


@test
def the_number_of_a_cpu_may_be_anything():
    can_record()
    result = pace('stat', 'record', '-o', 's.data', '-e', 'task-clock', 'true')
    assert result.status == 0, result
    with open('s.data', 'rb') as file:
        data = bytearray(file.read())
    at, size = struct.unpack_from('<QQ', data, 40)
    end, n = at + size, 0
    while at < end:
        kind, _, size = struct.unpack_from('<IHH', data, at)
        if kind == 76:  # STAT: id, cpu
            struct.pack_into('<I', data, at + 16, 0x7ffffff0)
            n += 1
        at += size
    with open('s.data', 'wb') as file:
        file.write(data)
    for scope in ('-A', '--per-socket', '--per-core', '--per-node'):
        result = pace('stat', 'report', scope, '-i', 's.data')
        assert n and result.status == 0, (scope, result)
    # Nothing that is as long as the number: of two billion elements each would be gigabytes.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1 << 20, resource.getrusage(resource.RUSAGE_CHILDREN)


@test
def a_scale_that_is_no_number_is_not_used_and_counted_as_damage():
    can_record()
    assert pace('stat', 'record', '-o', 's.data', '-e', 'page-faults', 'true').status == 0
    with open('s.data', 'rb') as file:
        data = bytearray(file.read())
    at, size = struct.unpack_from('<QQ', data, 40)
    ids_at, = struct.unpack_from('<Q', data, struct.unpack_from('<Q', data, 24)[0] + struct.unpack_from('<Q', data, 16)[0] - 16)
    for scale in (float('nan'), float('inf'), -float('inf'), 1e300):
        record = struct.pack('<IHHQ8sd', 78, 0, 32, 1, data[ids_at:ids_at + 8], scale)  # EVENT_UPDATE: SCALE
        bad = data[:at] + record + data[at:]
        struct.pack_into('<Q', bad, 48, size + len(record))
        bits = int.from_bytes(data[72:104], 'little')
        for i in range(bin(bits).count('1')):
            struct.pack_into('<Q', bad, at + size + len(record) + 16 * i,
                             struct.unpack_from('<Q', data, at + size + 16 * i)[0] + len(record))
        with open('bad.data', 'wb') as file:
            file.write(bad)
        for form in ([], ['-j'], ['-x', ',']):
            result = pace('stat', 'report', *form, '-i', 'bad.data')
            assert result.status == 1 and 'page-faults' in result.out and result.err, (scale, form, result)
            assert not re.search('inf|nan', result.out), (scale, form, result)


@test
def damaged_recordings_neither_crash_nor_hang_and_say_so():
    assert pace('stat', 'record', '-o', 'perf.data', '-I', '20', '-e', EVENTS, 'sleep', '0.1').status == 0
    whole = open('perf.data', 'rb').read()
    seed = random.Random(20261121)
    for i in range(120):
        damaged = bytearray(whole)
        if i % 3 == 0:
            damaged = damaged[:seed.randrange(len(whole))]
        for _ in range(1 + i % 4):
            if damaged:
                damaged[seed.randrange(len(damaged))] = seed.randrange(256)
        open('damaged.data', 'wb').write(damaged)
        result = pace('stat', 'report', '-i', 'damaged.data')
        assert result.status in (0, 1, 2), (i, result)
        assert not re.search(r'[\x00-\x08\x0b-\x1f\x7f]', result.out + result.err), (i, result)


@test
def script_prints_counts_as_perf_does():
    """Of files and of pipes, of either: perf reads counts there only if nothing says that there are samples."""
    perf_works()
    for tool in ('perf', PACE):
        for words in (['-e', EVENTS], ['-e', EVENTS, '-I', '40'], ['-e', 'cycles'], ['-a', '-e', 'cycles,cpu-clock,page-faults', '-I', '50']):
            if '-a' in words:
                needs_root()
            for output in ('s.data', '-'):
                with open('s.data', 'wb') as pipe:
                    record = subprocess.run([tool, 'stat', 'record', *words, '-o', output, 'sleep', '0.1'], stdout=pipe if output == '-' else None,
                                            stderr=subprocess.DEVNULL, check=False)
                assert record.returncode == 0, (tool, words, output)
                theirs, ours = run('perf', 'script', '-i', 's.data'), pace('script', '-i', 's.data')
                assert theirs.out.startswith('CPU   THREAD '), (tool, words, output, theirs)
                assert ours.out == theirs.out and ours.status == 0 and not ours.err, (tool, words, output, ours, theirs)
    # Counts are no samples for a script, nor for JSON.
    assert 'stat report' in pace('script', '--json', '-i', 's.data').err


main()
