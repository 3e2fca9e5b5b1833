#!/usr/bin/env python3
"""Branches of two recordings: how many cycles the code between them takes (`diff -c cycles`), and the hottest sequences of them (`--stream`).

perf 6.1 crashes whenever -c cycles has rows, on all files tried: what must be shown is computed here from the branches that were written
down. A newer perf is asked where both mean the same: every run has an end of its own, and a beginning.
Streams are compared with perf's where none begins like another: there it prints only the part that differs."""
import collections
import csv
import io
import json
import math
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402

KIND = handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD | handmade.BRANCH_STACK
ANY = 1 << 3
NO_CYCLES = 1 << 15

# Each function calls the next, so that a chain of branches can begin and end anywhere.
SOURCE = '''#define F(n, next) __attribute__((noinline)) int f##n(int x) { \\
	if (x & 1) \\
		x += n; \\
	x = x * 3 + 1; \\
	return next(x) + n; \\
}
__attribute__((noinline)) int f0(int x) { return x ^ 5; }
F(1, f0)
F(2, f1)
F(3, f2)
F(4, f3)
F(5, f4)
F(6, f5)
F(7, f6)
F(8, f7)
int main(int argc, char **argv) { return f8(argc); }
'''


class Program:
    """Functions of a compiled program: where they begin, where they are called, and how its code is mapped."""

    def __init__(self, name, above='', flags=('-g',)):
        needs('gcc', 'objdump', 'nm', 'readelf')
        os.makedirs(name, exist_ok=True)
        with open(f'{name}/chain.c', 'w', encoding='utf-8') as file:
            file.write(above + SOURCE)
        path = os.path.abspath(f'{name}/chain')
        done = run('gcc', '-O1', '-no-pie', *flags, '-o', path, f'{name}/chain.c')
        assert done.status == 0, done
        self.at = {words[2]: int(words[0], 16) for words in map(str.split, run('nm', path).out.split('\n')) if len(words) == 3}
        code = re.search(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', run('readelf', '-lW', path).out)
        offset, address, size = (int(text, 16) for text in code.groups())
        self.mapped = (path, address, size + 0xfff & ~0xfff, offset)
        text = run('objdump', '-d', '--no-show-raw-insn', path).out
        calls = re.findall(r'^ +([0-9a-f]+):\tcall +\w+ <(f\d)>\n +([0-9a-f]+):', text, re.M)
        self.calls = {name: int(where, 16) for where, name, _ in calls}
        self.behind = {name: int(where, 16) for _, name, where in calls}
        self.ends = {name: int(where, 16) for name, where in re.findall(r'<(f\d)>:\n(?: .*\n)*? +([0-9a-f]+):\tret', text)}
        assert len(self.calls) == 9 and len(self.ends) == 9, text

    def call(self, name, cycles):
        return (self.calls[name], self.at[name], cycles << 4 | 2)

    def back(self, name, cycles):
        return (self.ends[name], self.behind[name], cycles << 4 | 2)

    def write(self, path, samples, branch_type=ANY, kind=KIND):
        """samples: branches, the newest first."""
        handmade.write(path, kind, [{'ip': branches[0][1] if branches else self.at['main'], 'branches': branches} for branches in samples],
                       branch_type=branch_type, program=self.mapped)

    def run_of(self, start, end):
        """The run between two addresses, as rows name it: its function and offsets."""
        name = max((name for name in self.at if re.match(r'f\d|main', name) and self.at[name] <= end), key=lambda name: self.at[name])
        return (name, start - self.at[name], end - self.at[name])


def walk(program, seed, slow=1, n=60, depth=16, has_ends=True):
    """Samples on a random way down the calls and up again; code of f3 takes `slow` times as long. And each run's cycles."""
    random.seed(seed)
    way, runs, samples = [], collections.defaultdict(list), []
    for _ in range(n):
        down = random.randint(3, 8)
        way += [program.call(f'f{8 - i}', random.randint(4, 9) * (slow if i == 6 else 1)) for i in range(down)]
        way += [program.back(f'f{8 - i}', random.randint(2, 5)) for i in range(down - 1, -1, -1)]
    for i in range(depth, len(way), 3):
        branches = way[i - depth:i][::-1]
        if not has_ends:
            branches[-1] = branches[-1][:2] + (2,)
        samples.append(branches)
        for newer, older in zip(branches, branches[1:]):
            if newer[0] >= older[1]:
                runs[program.run_of(older[1], newer[0])].append(newer[2] >> 4)
    return samples, runs


def rows_of(*words):
    """(function, first offset, last offset) -> row, and the whole event."""
    result = pace('diff', '-c', 'cycles', '--json', *words)
    assert result.status == 0, result
    event = json.loads(result.out)['events'][0]
    return {place_of(row['block']): row for row in event['rows']}, event


def place_of(block):
    found = re.match(r'(?:\[\S+ -> \S+\] )?\[?(\w+)\+0x(\w+)(?:\.\.0x| -> \w+\+0x)(\w+)\]?$', block)
    return (found[1], int(found[2], 16), int(found[3], 16))


def mean(numbers):
    return sum(numbers) / len(numbers)


def variance(numbers):
    return sum((n - mean(numbers)) ** 2 for n in numbers) / (len(numbers) - 1) if len(numbers) > 1 else math.nan


def close(a, b):
    return abs(a - b) <= 1e-6 * max(1, abs(a), abs(b))


def two_walks():
    program = Program('one')
    samples, before = walk(program, 1)
    program.write('a.data', samples)
    samples, after = walk(program, 2, slow=3)
    program.write('b.data', samples)
    return program, before, after


@test
def runs_of_code_have_the_cycles_that_were_recorded():
    _, before, after = two_walks()
    rows, event = rows_of('a.data', 'b.data')
    assert set(rows) == set(before) | set(after) and len(rows) > 12, (set(rows) ^ (set(before) | set(after)))
    total = sum(recording['period'] for recording in event['recordings'][:1])
    for place, row in rows.items():
        for value, runs in zip(row['values'], (before[place], after[place])):
            assert value['samples'] == len(runs) and value['period'] == sum(runs), (place, row, runs)
            if not runs:
                assert value['mean'] is None, row
                continue
            assert close(value['mean'], mean(runs)), (place, row)
            assert value['deviation'] is None if len(runs) < 2 else close(value['deviation'], math.sqrt(variance(runs))), (place, row)
        both = before[place] + after[place]
        assert (row['low'], row['high']) == (min(both), max(both)), row
        for value, runs in zip(row['values'], (before[place], after[place])):
            width = (row['high'] - row['low'] + 1) / 8
            bins = [sum(int((n - row['low']) / width) == i for n in runs) for i in range(8)]
            assert value['histogram'] == ' '.join(map(str, bins)), (place, row, bins)
        assert close(row['values'][0]['share'], sum(before[place]) / total), row
        if before[place] and after[place]:
            assert row['state'] == 'both' and close(row['diff'], mean(after[place]) - mean(before[place])), row
            error = math.sqrt(variance(before[place]) / len(before[place]) + variance(after[place]) / len(after[place]))
            # Student's t with as many degrees of freedom is a bit more than the normal distribution's 1.96.
            assert error == 0 and row['half'] == 0 or 1.95 < row['half'] / error < (2.2 if min(len(before[place]), len(after[place])) > 15 else 13), (row, error)
        else:
            assert row['state'] == ('gone' if before[place] else 'new') and row['diff'] is None, row
    slower = max((row for row in rows.values() if row['diff'] is not None), key=lambda row: row['diff'])
    assert slower['symbol'] == '[.] f3' and slower['diff'] - slower['half'] > 5, slower
    # What makes most of the difference comes first.
    weights = [-1 if row['diff'] is None else abs(row['diff']) * row['values'][0]['samples'] for row in event['rows']]
    assert weights == sorted(weights, reverse=True), weights


@test
def text_says_how_much_longer_runs_take_and_how_much_they_vary():
    _, before, after = two_walks()
    rows, _ = rows_of('a.data', 'b.data')
    text = pace('diff', '-c', 'cycles', 'a.data', 'b.data').out
    shown = re.findall(r'^ +([\d.]+)%  (\[chain\.c:\d+ -> chain\.c:\d+\] \S+) +([-+][\d.]+) \+- ([\d.]+)  chain +\[\.\] (f\d)$', text, re.M)
    assert len(shown) >= 12 and '# Baseline  [Program Block Range]' in text and 'Cycles Diff' in text, text
    for share, block, diff, half, function in shown:
        row = rows[place_of(block)]
        assert float(share) == round(100 * row['values'][0]['share'], 2) and abs(float(diff) - row['diff']) < 0.051 and abs(float(half) - row['half']) < 0.051, (row, text)
        assert row['symbol'] == f'[.] {function}'
    unknown = sum(len(line) for line in before.values())
    assert re.search(r'^#  \[0\] a\.data \(Baseline\): (\d+) runs of code from branch to branch; where (\d+) of them begin was not recorded', text, re.M), (text, unknown)
    varied = pace('diff', '-c', 'cycles', '--cycles-hist', '-p', '-F', 'a.data', 'b.data').out
    assert 'Base stddev/Hist' in varied and '  stddev/Hist' in varied, varied
    for share, block, *_ in shown:
        row, line = rows[place_of(block)], next(line for line in varied.split('\n') if block + ' ' in line)
        for value in row['values']:
            assert '\u00b1%5.1f%% ' % (100 * value['deviation'] / value['mean']) in line and ' %.1f ' % value['mean'] in line, (line, value)
            bars, bins = re.findall('[\u2581-\u2588]{8}', line), list(map(int, value['histogram'].split()))
            drawn = ''.join(chr(0x2581 + (1 + (n * 6 + max(bins) // 2) // max(bins) if n else 0)) for n in bins)
            assert len(bars) == 2 and drawn in bars, (line, drawn)
        a, b = row['values']
        assert f"({b['period']} / {b['samples']}) - ({a['period']} / {a['samples']})" in line, line
    # Other forms have the same.
    table = list(csv.DictReader(io.StringIO(pace('diff', '-c', 'cycles', '--format', 'csv', 'a.data', 'b.data').out)))
    assert [(row['block'], int(row['samples_1']), int(row['period_2'])) for row in table] == \
        [(row['block'], row['values'][0]['samples'], row['values'][1]['period']) for row in rows.values()], table
    assert pace('diff', '-c', 'cycles', '--format', 'md', 'a.data', 'b.data').out.count('\n| `') == len(rows)
    separated = pace('diff', '-c', 'cycles', '-q', '-t', ';', 'a.data', 'b.data').out
    assert 'Baseline;[Program Block Range];Cycles Diff;Shared Object;Symbol\n' in separated, separated


@test
def rows_are_chosen_and_sorted_as_options_say():
    program, before, after = two_walks()
    rows, _ = rows_of('-S', 'f3,f4', 'a.data', 'b.data')
    assert {place[0] for place in rows} == {'f3', 'f4'}, rows
    for place, row in rows.items():
        assert row['values'][0]['samples'] == len(before[place])
    # Deep calls that only one has.
    deep, _ = walk(program, 3)
    program.write('deep.data', [*deep, *[[program.call('f0', 7), program.call('f1', 3)]] * 4])
    shown = [set(map(place_of, re.findall(r'(\[chain\.c:\d+ -> chain\.c:\d+\] \S+)', pace('diff', '-c', 'cycles', *words, 'a.data', 'deep.data').out)))
             for words in ([], ['-b'])]
    new = program.run_of(program.at['f1'], program.calls['f0'])
    assert shown[0] - shown[1] == {new} and shown[1] == set(before), (shown, new)
    text = pace('diff', '-c', 'cycles', 'a.data', 'deep.data').out
    assert re.search(r' new +chain +\[\.\] f1', text), text
    gone = pace('diff', '-c', 'cycles', 'deep.data', 'a.data').out
    assert re.search(r'f1\+0x0\.\.0x\w+ +gone +chain', gone), gone
    by_share = re.findall(r'^ +([\d.]+)%', pace('diff', '-c', 'cycles', '-o', '0', 'a.data', 'b.data').out, re.M)
    assert by_share == sorted(by_share, key=float, reverse=True), by_share
    few = pace('diff', '-c', 'cycles', '--percent-limit', '5', 'a.data', 'b.data').out
    assert 0 < few.count(' chain ') < len(before) and min(map(float, re.findall(r'^ +([\d.]+)%', few, re.M))) < 5.01, few
    # Without functions among the keys, runs of two functions are still two.
    merged = pace('diff', '-c', 'cycles', '-s', 'dso', 'a.data', 'b.data').out
    assert merged.count('  chain') == len(set(before) | set(after)), merged


@test
def the_same_code_is_found_in_another_build():
    _, before, _ = two_walks()
    moved = Program('two', above='\n\nint before_all(int x) { return x * 77; }\n')
    samples, after = walk(moved, 5)
    moved.write('c.data', samples)
    rows, _ = rows_of('a.data', 'c.data')
    assert all(row['state'] == 'both' for place, row in rows.items() if before.get(place) and after.get(place)), rows
    assert {place for place, row in rows.items() if row['state'] == 'both'} == set(before) & set(after) != set()
    bare = Program('three', flags=['-g0'])
    samples, after = walk(bare, 6)
    bare.write('d.data', samples)
    rows, _ = rows_of('d.data', 'd.data')
    assert set(rows) == set(after) and all(row['block'].startswith('[f') and row['diff'] == 0 for row in rows.values()), rows


@test
def several_recordings_tell_how_sure_a_difference_is():
    program = Program('one')
    runs = {}
    for side, slow in (('a', 1), ('b', 3)):
        for i in range(3):
            samples, runs[f'{side}{i}.data'] = walk(program, 10 * slow + i, slow)
            program.write(f'{side}{i}.data', samples)
    files = [f'{side}{i}.data' for side in 'ab' for i in range(3)]
    rows, event = rows_of(*files[:3], '--', *files[3:])
    assert [recording['side'] for recording in event['recordings']] == list('AAABBB'), event
    compared = 0
    for place, row in rows.items():
        means = [[mean(runs[name][place]) for name in files if name[0] == side and runs[name][place]] for side in 'ab']
        if min(map(len, means)) < 3:
            continue
        assert close(row['diff'], mean(means[1]) - mean(means[0])), (row, means)
        error = math.sqrt(sum(variance(numbers) / len(numbers) for numbers in means))
        # Between 2 and 4 degrees of freedom.
        assert error == 0 or 2.77 < row['half'] / error < 4.31, (row, error)
        compared += 1
    assert compared > 8, rows
    text = pace('diff', '-c', 'cycles', '--cycles-hist', *files[:3], '--', *files[3:]).out
    assert text.count('Cycles Diff') == 1 and text.count('stddev/Hist') == 2, text
    several = pace('diff', '-c', 'cycles', *files[:3]).out
    assert 'Cycles Diff/1' in several and 'Cycles Diff/2' in several, several


@test
def newer_perfs_have_the_same_differences():
    perf_works()
    if perf_version() < (7, 0):
        skip('perf 6.1 crashes when it compares cycles')
    program = Program('one')
    means = []
    for name, seed, slow in (('a.data', 1, 1), ('b.data', 2, 3)):
        random.seed(seed)
        # Each run ends where no other one does; the oldest branch of a sample has no cycles.
        samples = [[program.call(f'f{i}', random.randint(4, 9) * slow if i == 3 else random.randint(4, 9)), (program.calls[f'f{i + 1}'], program.at[f'f{i + 1}'], 2)]
                   for i in random.choices(range(8), k=300)]
        program.write(name, samples)
        means.append(samples)
    rows, _ = rows_of('a.data', 'b.data')
    result = run('perf', 'diff', '-f', '-c', 'cycles', 'a.data', 'b.data')
    assert result.status == 0, result
    theirs = re.findall(r'\[chain\.c:(\d+) -> chain\.c:\d+\] +(-?\d+)  chain +\[\.\] (f\d)', result.out)
    assert len(theirs) >= 6, result
    ours = {row['symbol'][4:]: row for row in rows.values()}
    for _, diff, function in theirs:
        # perf rounds both means down.
        a, b = (int(value['mean']) for value in ours[function]['values'])
        assert int(diff) == b - a, (function, diff, ours[function])


# ---- streams ----

def down(program, first, n, cycles):
    """The newest branch calls f{first}, the ones before it the functions above."""
    return [program.call(f'f{first + i}', cycles + i) for i in range(n)]


def streams_of(text):
    """The title of a part -> its chains: the figures and the places of each side."""
    parts, part, chain = collections.OrderedDict(), None, None
    for line in text.split('\n'):
        if line.startswith('['):
            part = parts.setdefault(line.strip('[ ]'), [])
        elif line.startswith('hot chain'):
            chain = []
            part.append(chain)
        elif line.strip() and '---' not in line:
            chain.append(tuple(cell.strip() for cell in line.split('\t')))
    return parts


def write_streams(program, path, streams):
    program.write(path, [branches for branches, n in streams for _ in range(n)])


@test
def streams_are_those_of_perf():
    perf_works()
    program = Program('one')
    write_streams(program, 's.data', [(down(program, 0, 3, 1), 5), (down(program, 1, 3, 4), 4), (down(program, 2, 4, 7), 3), (down(program, 3, 2, 2), 2), (down(program, 4, 2, 3), 1)])
    write_streams(program, 't.data', [(down(program, 0, 3, 2), 5), (down(program, 1, 3, 4), 4), (down(program, 5, 4, 7), 3), (down(program, 3, 2, 2), 2), (down(program, 4, 2, 3), 2)])
    for files in (('s.data', 't.data'), ('t.data', 's.data'), ('s.data', 's.data')):
        ours, theirs = pace('diff', '--stream', *files), run('perf', 'diff', '-f', '--stream', *files)
        assert ours.status == 0 and theirs.status == 0 and ours.out.rstrip('\n') == theirs.out.rstrip('\n'), (ours, theirs)
    parts = streams_of(ours.out)
    assert [len(chains) for chains in parts.values()] == [5, 0, 0], parts


@test
def streams_that_begin_alike_are_whole_and_have_their_own_cycles():
    program = Program('one')
    # perf prints of each only what the others do not begin with.
    write_streams(program, 's.data', [(down(program, 0, 3, 1), 5), (down(program, 0, 2, 10), 4), (down(program, 0, 4, 1), 3)])
    chains = streams_of(pace('diff', '--stream', 's.data', 's.data').out)['Matched hot streams']
    assert [chain[0][0] for chain in chains] == ['cycles: 6, hits: 41.67%', 'cycles: 21, hits: 33.33%', 'cycles: 10, hits: 25.00%'], chains
    assert [len(chain) - 1 for chain in chains] == [6, 4, 8] and all(a == b for chain in chains for a, b in chain), chains
    places = [f'f{i} chain.c:{7 + i}' for i in range(5)]
    assert [a for a, _ in chains[2][1:]] == [places[0], places[1], places[1], places[2], places[2], places[3], places[3], places[4]], chains


@test
def streams_are_found_beyond_the_hottest_and_where_lines_moved():
    program = Program('one')
    hot = [(down(program, i, 2, 1), 9 - i) for i in range(6)]
    write_streams(program, 's.data', hot)
    write_streams(program, 't.data', [(branches, 10 - n) for branches, n in hot])
    parts = streams_of(pace('diff', '--stream', 's.data', 't.data').out)
    # The hottest of one are the least of the other, but both have them all.
    assert [len(chains) for chains in parts.values()] == [6, 0, 0], parts
    moved = Program('two', above='\n\n')
    write_streams(moved, 'm.data', [(down(moved, i, 2, 1), 9 - i) for i in range(6)])
    parts = streams_of(pace('diff', '--stream', 's.data', 'm.data').out)
    assert len(parts['Matched hot streams']) == 5 and parts['Matched hot streams'][0][1] == ('f0 chain.c:7', 'f0 chain.c:9'), parts
    bare = Program('three', flags=['-g0'])
    write_streams(bare, 'n.data', [(down(bare, i, 2, 1), 9 - i) for i in range(6)])
    parts = streams_of(pace('diff', '--stream', 'n.data', 's.data').out)
    assert len(parts['Matched hot streams']) == 5 and parts['Matched hot streams'][0][1] == ('f0+0x0', 'f0 chain.c:7'), parts


@test
def programs_get_all_streams_with_their_steps():
    program = Program('one')
    streams = [(down(program, i % 6, 2 + i // 6, 1), 20 - i) for i in range(12)]
    write_streams(program, 's.data', streams)
    # Two samples without branches; a loop of which the second and third turn are left out.
    loop = [program.call('f1', 2), program.call('f2', 3)]
    write_streams(program, 't.data', streams[:8] + [(loop * 3 + [program.call('f5', 4)], 2), ([], 2)])
    document = json.loads(pace('diff', '--stream', '--json', 's.data', 't.data').out)['events'][0]
    assert [side['samples'] for side in document['sides']] == [sum(n for _, n in streams), sum(n for _, n in streams[:8]) + 4], document
    assert [side['without_branches'] for side in document['sides']] == [0, 2] and document['sides'][1]['files'] == 't.data'
    rows = document['rows']
    assert len(rows) == 13 and [row['state'] for row in rows].count('gone') == 4 and [row['state'] for row in rows].count('new') == 1, rows
    new = next(row for row in rows if row['state'] == 'new')
    assert [(step['end'], step['function']) for step in new['steps']] == [('to', 'f1'), ('from', 'f2'), ('to', 'f2'), ('from', 'f3'), ('to', 'f5'), ('from', 'f6')], new
    assert new['values'][1] == {'samples': 2, 'share': new['values'][1]['share'], 'cycles': 3 * 5 + 4, 'iterations': 2} and new['values'][0]['cycles'] is None, new
    for (branches, n), row in zip(streams, rows):
        assert row['values'][0]['samples'] == n and row['values'][0]['cycles'] == sum(cycles >> 4 for _, _, cycles in branches), row
        assert [(step['function'], step['offset']) for step in row['steps']] == [place for start, to, _ in branches
                                                                                 for place in (program.run_of(to, to)[:2], (program.run_of(start, start)[0], program.run_of(start, start)[2]))], row
    table = list(csv.DictReader(io.StringIO(pace('diff', '--stream', '--format', 'csv', 's.data', 't.data').out)))
    assert [(row['stream'], row['samples_1']) for row in table] == [(row['stream'], str(row['values'][0]['samples'])) for row in rows], table
    text = pace('diff', '--stream', 's.data', 't.data').out
    assert text.count('hot chain') == 5 and '# 2 of 136 samples in new perf data have no branches before them\n' in text, text
    assert pace('diff', '--stream', '--all', 's.data', 't.data').out.count('hot chain') == 13
    assert '[ Hot streams in new' not in pace('diff', '--stream', '--all', '-b', 's.data', 't.data').out
    few = streams_of(pace('diff', '--stream', '--all', '--percent-limit', '13', 's.data', 't.data').out)
    assert 0 < sum(map(len, few.values())) < 9, few
    # Filters leave samples out.
    filtered = json.loads(pace('diff', '--stream', '--json', '-S', 'f0', 's.data', 't.data').out)['events'][0]['rows']
    assert {row['steps'][0]['function'] for row in filtered} == {'f0'} and len(filtered) == 2, filtered
    # The sides of several recordings are added up.
    both = json.loads(pace('diff', '--stream', '--json', 's.data', 's.data', '--', 't.data').out)['events'][0]['rows']
    assert [row['values'][0]['samples'] for row in both] == [2 * row['values'][0]['samples'] for row in rows], both


@test
def it_is_said_what_a_recording_lacks():
    program = Program('one')
    write_streams(program, 's.data', [(down(program, 0, 3, 1), 5)])
    handmade.write('plain.data', KIND & ~handmade.BRANCH_STACK, [{'ip': program.at['f0']}] * 5, program=program.mapped)
    program.write('uncounted.data', [[entry[:2] + (2,) for entry in down(program, 0, 3, 1)]] * 3)
    program.write('none.data', [[entry[:2] + (2,) for entry in down(program, 0, 3, 1)]] * 3, branch_type=ANY | NO_CYCLES)
    with open('old.folded', 'w', encoding='utf-8') as file:
        file.write('main;f8 5\n')
    for words, files, status, reason in (
            (['--stream'], 's.data plain.data', 1, "'plain.data' has no branch stacks: record with -b"),
            (['-c', 'cycles'], 'plain.data s.data', 1, "'plain.data' has no cycles between branches: record with -b"),
            (['-c', 'cycles'], 's.data none.data', 1, "'none.data' has no cycles between branches"),
            (['-c', 'cycles'], 's.data uncounted.data', 1, "the branches of 'uncounted.data' have no cycles"),
            (['--stream'], 'old.folded s.data', 1, 'which has no branches'), (['-c', 'cycles'], 's.data old.folded', 1, 'which has no branches'),
            (['--cycles-hist'], 's.data s.data', 2, 'the cycles of -c cycles vary: give both'), (['--stream'], 's.data s.data s.data', 2, 'there are 3'),
            (['--stream', '-c', 'cycles'], 's.data s.data', 2, 'choose one'), (['-c', 'cycles', '--folded'], 's.data s.data', 2, 'does not go with'),
            (['-c', 'cycles', '--normalise', 'run'], 's.data s.data', 2, 'does not go with --normalise'), (['--stream', '--html', 'x.html'], 's.data s.data', 2, 'does not go with --html'),
            (['--stream', '--children'], 's.data s.data', 2, 'does not go with --children'), (['-c', 'circles'], 's.data s.data', 2, 'wdiff:WEIGHT,WEIGHT, cycles')):
        result = pace('diff', *words, *files.split())
        assert result.status == status and reason in result.err and not result.out, (words, files, result)
    # Streams are known without cycles.
    for name in ('none.data', 'uncounted.data'):
        text = pace('diff', '--stream', 's.data', name).out
        assert 'cycles: 6, hits: 100.00%' in text and 'cycles: -, hits: 100.00%' in text, text
        assert json.loads(pace('diff', '--stream', '--json', 's.data', name).out)['events'][0]['rows'][0]['values'][1]['cycles'] is None


main()
