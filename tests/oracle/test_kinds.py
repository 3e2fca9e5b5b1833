#!/usr/bin/env python3
"""Other readers of perf.data on every kind of file that pace writes: they see the same samples, and the same rows."""
import collections
import glob
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

SOURCE = '''
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned sink;

__attribute__((noinline)) static void leaf(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noinline)) static void middle(unsigned n)
{
	leaf(n);
	sink++;
}

static void *work(void *rounds)
{
	struct timespec nap = {0, 1000000};

	for (int i = *(int *)rounds; i > 0; i--) {
		middle(200000);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 60;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &rounds);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
'''
NAME = 'napping'

# Kinds of recordings of a program, and what needs root.
OWN = {'plain': [], 'frames': ['-g'], 'stacks': ['--call-graph', 'dwarf'], 'kept': ['--call-graph', 'dwarf', '--keep-stacks'], 'wall': ['--wall'],
       'wallframes': ['--wall', '-g'], 'packed': ['-z'], 'counts': ['-s'], 'two': ['-e', 'cpu-clock,task-clock'],
       'three': ['-e', 'cpu-clock', '-e', 'page-faults', '-e', 'context-switches'], 'alone': ['-i'], 'data': ['-d'], 'ring': ['--ring', '5s'],
       'group': ['-e', '{cpu-clock,page-faults}'], 'bare': ['--no-embed'], 'id': ['--sample-identifier'], 'idle': ['-e', 'dummy']}
SYSTEM = {'system': ['-a'], 'systemframes': ['-a', '-g'], 'systemwall': ['-a', '--wall', '-g'], 'cgroups': ['-a', '--all-cgroups'],
          'tracepoint': ['-e', 'sched:sched_switch', '-e', 'cpu-clock']}
EDITS = {'cut': ['cut', 'plain.data', '--time', '10%,70%'], 'merged': ['merge', 'plain.data', 'frames.data'], 'stripped': ['strip', 'frames.data'],
         'repacked': ['pack', 'bare.data']}


def program():
    if not os.path.exists(NAME):
        with open('napping.c', 'w', encoding='utf-8') as file:
            file.write(SOURCE)
        build_c(os.path.abspath('napping.c'), NAME, '-pthread', '-fno-plt') # perf 6.1 takes what is in the PLT for _init
    return os.path.abspath(NAME)


def recordings():
    """Every kind of file that can be made here: its name and path."""
    path = program()
    made = []
    for name, options in dict(OWN, **({} if os.geteuid() else SYSTEM)).items():
        done = pace('record', '-q', '-o', f'{name}.data', *options, path)
        if done.status and 'unknown option' not in done.err:
            print(f'# {name}: {done.err.strip()[:150]}')
            continue
        assert done.status == 0, done
        made.append(name)
    with open('piped.data', 'wb') as out:
        assert subprocess.run([PACE, 'record', '-q', '-g', '-o', '-', path], stdout=out, stderr=subprocess.DEVNULL, check=False).returncode == 0
    for name, options in EDITS.items():
        done = pace('data', *options, '-o', f'{name}.data')
        assert done.status == 0, done
    done = pace('record', '-q', '-o', 'switched.data', '--switch-output=200k', '-F', '20000', path)
    assert done.status == 0, done
    switched = sorted(name for name in os.listdir('.') if name.startswith('switched.data.'))
    assert switched, os.listdir('.')
    return [(name, f'{name}.data') for name in (*made, 'piped', *EDITS)] + [('switched', name) for name in switched]


def samples_by_event(tool, path):
    """What `script` prints: samples of each event."""
    done = run(*tool, 'script', '-i', path, '-G', '-F', 'event')
    assert done.status == 0, (path, done)
    found = {}
    for line in done.out.split('\n'):
        if line.strip():
            found[line.strip()] = found.get(line.strip(), 0) + 1
    return found


def rows_of(tool, path):
    """Of `report`: samples, thread, file, function of the program's rows. Other programs' files come and go while this runs. perf splits a
    row now and then into two that read the same."""
    done = run(*tool, 'report', '-i', path, '--stdio', '-g', 'none', '--no-children', '-F', 'sample,comm,dso,sym')
    assert done.status == 0, (path, done)
    found = collections.Counter()
    for line in done.out.split('\n'):
        words = line.split()
        if line.startswith('#') or len(words) < 4 or words[1] != NAME:
            continue
        # What has no name has an address, which one of them gives as it is in the file.
        found[re.sub(r'0x[0-9a-f]+$', 'ADDRESS', ' '.join(words[1:]))] += int(words[0])
    return sorted(f'{n} {row}' for row, n in found.items())


@test
def perf_sees_the_same_samples_and_rows():
    can_record()
    perf_works()
    n_rows = 0
    for name, path in recordings():
        ours, theirs = (samples_by_event(tool, path) for tool in ((PACE, '--as-perf'), ('perf',)))
        assert ours == theirs and (sum(ours.values()) or name == 'idle'), (name, ours, theirs)
        ours, theirs = (rows_of(tool, path) for tool in ((PACE, '--as-perf'), ('perf',)))
        assert ours == theirs, (name, sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours)))
        n_rows += len(ours)
    assert n_rows > 100, n_rows
    print(f'# {n_rows} rows')


@test
def perf_loses_nothing_of_groups_that_are_read_together():
    """perf 6.1 takes what each thread of a group has counted for one counter of the process: it makes samples of followers that count down
    between threads. Later ones know the thread. The leader's are the same."""
    can_record()
    perf_works()
    done = pace('record', '-q', '-o', 'read.data', '-e', '{cpu-clock,page-faults}:S', program())
    if done.status:
        skip(done.err.strip()[:150])
    ours, theirs = (samples_by_event(tool, 'read.data') for tool in ((PACE, '--as-perf'), ('perf',)))
    assert ours['cpu-clock:'] == theirs['cpu-clock:'] and ours['page-faults:'] <= theirs['page-faults:'], (ours, theirs)
    if perf_version() >= (6, 12):
        assert ours == theirs, (ours, theirs)


@test
def perf_reads_recorded_counts():
    can_record()
    perf_works()
    for options in ([], ['-I', '50'], ['--per-thread'], ['-r', '3']):
        done = pace('stat', 'record', '-o', 'stat.data', *options, '-e', 'task-clock,page-faults', program(), '20')
        if done.status:
            print(f'# {options}: {done.err.strip()[:150]}')
            continue
        done = run('perf', 'stat', 'report', '-i', 'stat.data')
        assert done.status == 0 and 'page-faults' in done.err + done.out, done
        raw = run('perf', 'report', '-D', '-i', 'stat.data').out
        assert raw.count('PERF_RECORD_STAT ') + raw.count('PERF_RECORD_STAT:') + raw.count('PERF_RECORD_STAT\n') > 1, raw[-500:]


@test
def counts_in_a_pipe_are_read_by_perf_and_by_pace():
    """The command's own output goes to standard error: the reader of the pipe gets the counts."""
    can_record()
    perf_works()
    result = subprocess.run([PACE, 'stat', 'record', '-o', '-', '-e', 'task-clock,page-faults', 'echo', 'said'], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False)
    assert result.returncode == 0 and b'said\n' in result.stderr and b'Performance' not in result.stderr and not os.path.exists('-'), result
    with open('counts.data', 'wb') as file:
        file.write(result.stdout)
    counts = []
    for tool in (['perf'], [PACE, '--as-perf']):
        with open('counts.data', 'rb') as file:
            done = subprocess.run([*tool, 'stat', 'report', '-i', '-'], stdin=file, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        text = done.stdout.decode()
        assert done.returncode == 0 and "Performance counter stats for 'pipe':" in text, (tool, text)
        counts.append(re.findall(r'^ *([\d.,]+) +(?:msec )?(task-clock|page-faults)', text, re.M))
    assert len(counts[0]) == 2 and counts[0] == counts[1], counts


def hotspots_parser():
    found = glob.glob('/usr/lib/*/libexec/hotspot-perfparser') + glob.glob('/usr/libexec/hotspot-perfparser') + glob.glob('/usr/lib/libexec/hotspot-perfparser')
    if not found:
        skip('hotspot is not installed')
    return found[0]


@test
def hotspot_sees_the_same_samples():
    can_record()
    parser = hotspots_parser()
    n_read = 0
    for name, path in recordings():
        done = run(parser, '--print-stats', '--input', path, '--output', 'stats')
        said = done.out + done.err
        with open('stats', encoding='utf-8', errors='replace') as file:
            said += file.read()
        assert done.status == 0 and 'unsupported compression version' not in said, (name, done)
        if 'zstd decompression support not available' in said:
            continue
        found = re.search(r'^samples: (\d+)$', said, re.M)
        ours = sum(samples_by_event((PACE,), path).values())
        assert found and int(found[1]) == ours, (name, ours, said)
        n_read += 1
    assert n_read >= 10, n_read
    print(f'# {n_read} files')


@test
def compression_is_described_as_perf_describes_it():
    can_record()
    perf_works()
    found = []
    for tool in (PACE, 'perf'):
        done = run(tool, 'record', '-q', '-z', '-e', 'cpu-clock', '-o', 'z.data', program(), '5')
        if done.status:
            skip(done.err.strip()[:150])
        with open('z.data', 'rb') as file:
            data = file.read()
        at = sum(struct.unpack_from('<2Q', data, 40))
        bits = [bit for bit in range(256) if int.from_bytes(data[72:104], 'little') >> bit & 1]
        where = struct.unpack_from('<Q', data, at + 16 * bits.index(27))[0]
        found.append(struct.unpack_from('<3I', data, where))
    assert found[0] == found[1], found


@test
def the_first_name_in_a_file_is_the_programs():
    """samply and the Firefox Profiler call a recording by the first name of a process that is not perf-exec."""
    can_record()
    for options in ([], ['-g'], ['--wall']):
        assert pace('record', '-q', '-o', 't.data', *options, program(), '5').status == 0
        names = re.findall(r'PERF_RECORD_COMM .*comm=(.*)', pace('report', '-D', '-i', 't.data').out)
        names = [name for name in names if name != 'perf-exec']
        assert names and names[0] == NAME, names


main()
