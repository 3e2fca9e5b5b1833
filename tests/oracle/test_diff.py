#!/usr/bin/env python3
"""`pace diff` compared with `perf diff`: the same rows with the same figures; and what perf cannot do: tell change from chance.

Not compared: rows that only the baseline has, for which perf prints no difference; functions without a name."""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

FUNCTIONS = 50


def program(name, slow=1.0, ms=600):
    """Fifty functions that take their time by turns; f7 takes `slow` times as long as its neighbours.

    How long varies from turn to turn: what comes round like a clock is sampled by a clock at the same places, and then the
    functions' shares are truly other ones as soon as a turn takes longer."""
    os.makedirs(name, exist_ok=True)
    path = f'{name}/many.c'
    with open(path, 'w', encoding='utf-8') as file:
        file.write('#include <time.h>\nstatic volatile unsigned long sink;\nstatic unsigned long state = 1;\n'
                   'static int about(unsigned n) { state = state * 6364136223846793005 + 1442695040888963407; return n / 2 + (state >> 33) % n; }\n')
        for i in range(FUNCTIONS):
            n = int(4000 * (slow if i == 7 else 1))
            file.write(f'__attribute__((noinline)) void f{i}(void) {{ for (int i = about({n}); i; i--) sink += i * {i + 1}; }}\n')
        calls = ' '.join(f'f{i}();' for i in range(FUNCTIONS))
        file.write(f'int main(void) {{\n\tclock_t end = clock() + CLOCKS_PER_SEC / 1000 * {ms};\n'
                   f'\twhile (clock() < end) {{ {calls} }}\n\treturn 0;\n}}\n')
    done = run('gcc', '-O1', '-g', '-o', f'{name}/many', path)
    assert done.status == 0, done
    return f'{name}/many'


def record(path, command, *options):
    can_record()
    result = pace('record', '-q', '-F', '10000', '-e', 'cpu-clock:u', *options, '-o', path, command)
    assert result.status == 0, result


def table(text, n_columns):
    """Function -> the figures before it. Columns end where the dots say."""
    rows, dots = {}, None
    for line in text.split('\n'):
        if re.match(r'# \.\.\.', line):
            dots = [(m.start(), m.end()) for m in re.finditer(r'\.+', line)]
        match = re.match(r'.*\[[.k]\] ([A-Za-z_]\w*)\s*$', line)
        if dots and match and not line.startswith('#'):
            rows[match[1]] = tuple(line[start - 2 if i == 0 else start:end].strip() for i, (start, end) in enumerate(dots[:n_columns]))
    return rows


@test
def figures_are_those_of_perf():
    perf_works()
    needs('gcc')
    a, b = program('a'), program('b', 2.0)
    record('a.data', a, '--sample-cpu')
    record('b.data', b, '--sample-cpu')
    record('c.data', b, '--sample-cpu')
    pids = ','.join(re.findall(r' (\d+):many', ''.join(pace('report', '-i', f'{name}.data', '-s', 'pid').out for name in 'ab')))
    assert ',' in pids, pids
    compared = 0
    for n_columns, options, files in ((2, [], 'ab'), (2, ['-c', 'delta'], 'ab'), (2, ['-c', 'ratio'], 'ab'), (2, ['-c', 'wdiff:2,3'], 'ab'),
                                      (4, ['-p'], 'ab'), (4, ['-c', 'ratio', '-p'], 'ab'), (2, ['-s', 'symbol'], 'ab'),
                                      (2, ['-s', 'comm,symbol'], 'ab'), (2, ['-s', 'dso'], 'ab'), (3, [], 'abc'),
                                      (2, ['-S', 'f7,f8'], 'ab'), (2, ['-S', 'f7,f8', '--percentage', 'absolute'], 'ab'),
                                      (2, ['-d', 'many'], 'ab'), (2, ['--time', '0%-50%'], 'ab'), (2, ['--time', '0%-50%:50%-100%'], 'aa'),
                                      (2, ['--cpu', '0,1'], 'ab'), (2, ['--cpu', '0'], 'ab'), (2, ['--pid', pids], 'ab')):
        words = options + [f'{name}.data' for name in files]
        ours, theirs = pace('diff', *words), run('perf', 'diff', *words)
        assert ours.status == 0 and theirs.status == 0, (ours, theirs)
        mine, perfs = table(ours.out, n_columns), table(theirs.out, n_columns)
        for name, figures in perfs.items():
            # Of what is not in the baseline perf says N/A instead of a ratio.
            if not figures[0] or 'N/A' in figures or '' in figures:
                continue
            assert mine[name] == figures, (options, name, mine[name], figures)
            compared += 1
    assert compared > 300, compared


def runs_of(n, **programs):
    """n recordings of each program, as far as they are not there yet: their names, by program."""
    for i in range(n):
        for name, command in programs.items():
            if not os.path.exists(f'{name}{i}'):
                record(f'{name}{i}', command)
    return [[f'{name}{i}' for i in range(n)] for name in programs]


@test
def one_slower_function_of_fifty_is_found_and_nothing_else():
    needs('gcc')
    a, b = program('a', ms=600), program('b', 1.2, ms=600)
    # Five a side are enough on a machine that is left alone; where others make all runs differ more, it takes more of them.
    for n in (5, 10, 20):
        before, after = runs_of(n, a=a, b=b)
        result = pace('diff', '--json', *before, '--', *after)
        assert result.status == 0, result
        rows = json.loads(result.out)['events'][0]['rows']
        different = [row['symbol'] for row in rows if row['significant']]
        if '[.] f7' in different:
            break
    slower = next(row for row in rows if row['symbol'] == '[.] f7')
    assert abs(slower['ratio'] - 1.2) < 0.15, slower
    # That nothing else ever is called different cannot be asked for: in one of twenty tests something may be, in one of a hundred two.
    assert '[.] f7' in different and len(different) <= 5, (different, result.out)


@test
def words_say_which_function_is_slower_and_by_how_much():
    needs('gcc')
    a, b = program('a'), program('b', 1.6)
    # Three a side are enough on a machine that is left alone.
    for n in (3, 6, 12, 24):
        before, after = runs_of(n, a=a, b=b)
        text = pace('diff', *before, '--', *after).out
        match = re.search(r'^# f7 is slower by (\d+)% \+- (\d+) \(', text, re.M)
        if match:
            break
    assert match and abs(int(match[1]) - 60) < max(3 * int(match[2]), 10), text
    assert re.search(r'^ .*\+- \d+  \*  many .*f7$', text, re.M), text
    back = pace('diff', *after, '--', *before).out
    assert re.search(r'^# f7 is faster by \d+% ', back, re.M), back


def stripped(name, order, *flags):
    """A program without names whose two functions, of one size, stand in the given order: the same addresses, other code."""
    os.makedirs(name, exist_ok=True)
    path = f'{name}/two.c'
    turns = {'long': 30000, 'short': 10000}
    with open(path, 'w', encoding='utf-8') as file:
        file.write('static volatile unsigned long sink;\n')
        for which in order:
            file.write(f'__attribute__((noinline, aligned(64))) void {which}_one(void) '
                       f'{{ for (int i = 0; i < {turns[which]}; i++) sink += i; }}\n')
        file.write('int main(void) { for (int i = 0; i < 20000; i++) { long_one(); short_one(); } return 0; }\n')
    done = run('gcc', '-O1', '-s', '-fno-toplevel-reorder', *flags, '-o', f'{name}/two', path)
    assert done.status == 0, done
    return f'{name}/two'


def pairs(a, b, *options):
    """Function -> its row, of those of the program."""
    result = pace('diff', '--json', *options, a, b)
    assert result.status == 0, result
    return {row['symbol']: row for row in json.loads(result.out)['events'][0]['rows'] if row['dso'] == 'two' and row['values'][0]['samples'] + row['values'][1]['samples'] > 20}


@test
def names_that_are_addresses_are_not_paired_across_builds():
    needs('gcc')
    for flags in ([], ['-Wl,--build-id=none']):
        a, b = stripped('a', ['long', 'short'], *flags), stripped('b', ['short', 'long'], *flags)
        record('a.data', a, '-g')
        record('again.data', a, '-g')
        record('b.data', b, '-g')
        # The same file: the same functions.
        same = pairs('a.data', 'again.data')
        assert len(same) == 2 and all(name.startswith('[.] fun_') and row['state'] == 'both' for name, row in same.items()), same
        other = json.loads(pace('diff', '--json', 'a.data', 'b.data').out)['events'][0]
        rows = [row for row in other['rows'] if row['dso'] == 'two' and row['symbol'].startswith('[.] fun_')]
        assert {row['symbol'] for row in rows} >= set(same), rows
        assert all(row['state'] == 'unpaired' and row['q'] is None for row in rows), rows
        assert all(not row['values'][0]['samples'] or not row['values'][1]['samples'] for row in rows), rows
        assert other['unpaired_a'] > 0.9 and other['unpaired_b'] > 0.9, other
        text = pace('diff', 'a.data', 'b.data').out
        assert re.search(r'^# Not paired, .* A 9\d\.\d+% \(two\), B 9\d\.\d+% \(two\); names \(--symfs', text, re.M), text
        assert 'Not paired' not in pace('diff', 'a.data', 'again.data').out
        # Neither in stacks, nor in what annotate compares, nor by ids of nodes.
        folded = pace('diff', '--folded', 'a.data', 'b.data').out
        numbers = [line.split()[-2:] for line in folded.split('\n') if re.search(r'fun_\w+@[0-9a-f]+ ', line)]
        assert len(numbers) >= 4 and all('0' in pair for pair in numbers), folded
        name = max(same, key=lambda n: same[n]['values'][0]['samples'])[4:]
        result = pace('annotate', '--diff', 'a.data', 'b.data', name)
        assert result.status != 0 and 'within one build' in result.err, result
        result = pace('annotate', '--diff', 'a.data', 'b.data')
        assert re.search(r'without names, 9\d.\d+% of the first recording, are not compared', result.err), result
        # Code that has a name is: which functions without names it calls tells no builds apart.
        assert not re.search('^# [AB]: fun_|^# Instructions: .*(gone|new)', result.out, re.M), result
        result = pace('annotate', '--diff', 'a.data', 'again.data', name)
        assert result.status == 0 and name in result.out, result
        nodes = [line['node'] for line in json.loads(pace('report', '--json', '--budget', '40', '-i', 'a.data').out)['events'][0]['lines']
                 if 'names' in line and line['names'][-1] == name]
        assert nodes and pace('report', '--node', nodes[0], '-i', 'again.data').status == 0, nodes
        result = pace('report', '--node', nodes[0], '-i', 'b.data')
        assert result.status != 0 and 'other builds' in result.err, result


@test
def a_recording_differs_in_nothing_from_itself():
    needs('gcc')
    data = os.path.join(TOP, 'tests/golden/data/wordcount.data')
    # Code that is mapped at no file: no build tells whether its addresses are the same places.
    with open('anon.c', 'w') as f:
        f.write('#include <string.h>\n#include <sys/mman.h>\n'
                'static int f(void) { volatile int x = 0; while (x < 300000000) x++; return x; }\n'
                'int main(void) { char *p = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n'
                '  memcpy(p, (void *)f, 200); return ((int (*)(void))p)() == 1; }\n')
    assert run('gcc', '-O1', '-fno-stack-protector', '-fcf-protection=none', '-o', 'anon', 'anon.c').status == 0
    record('a.data', './anon', '-g')
    shutil.copyfile('a.data', 'copy.data')
    for a, b in (('a.data', 'a.data'), ('a.data', 'copy.data'), (data, data)):
        for keys in ('dso,symbol', 'symoff', 'addr,comm'):
            found = json.loads(pace('diff', '--json', '-s', keys, a, b).out)['events'][0]
            assert found['rows'] and all(row['state'] == 'both' for row in found['rows']), (a, b, keys, found)
        said = pace('diff', a, b)
        assert 'same recording' in said.err and '-0' not in said.out and not re.search(r'[+-]\d*[1-9]\d*\.\d\d%|\+0\.(0[1-9]|[1-9]\d)%', said.out), said
        assert 'Not paired' not in said.out
    folded = pace('diff', '--folded', 'a.data', 'copy.data').out.splitlines()
    assert folded and all(line.split()[-1] == line.split()[-2] for line in folded), folded
    assert any('[JIT]' in line for line in pace('diff', '-s', 'dso', 'a.data', 'copy.data').out.splitlines())
    # Another run of it is another recording.
    record('b.data', './anon', '-g')
    assert 'same recording' not in pace('diff', 'a.data', 'b.data').err


@test
def stacks_of_both_sides_are_folded():
    needs('gcc')
    a, b = program('a'), program('b', 2.0)
    record('a.data', a, '--call-graph', 'dwarf')
    record('b.data', b, '--call-graph', 'dwarf')
    result = pace('diff', '--folded', 'a.data', 'b.data')
    lines = dict((match[1].split(';')[-1], (int(match[2]), int(match[3]))) for match in re.finditer(r'^(.*;main;f\d+) (\d+) (\d+)$', result.out, re.M))
    assert len(lines) >= FUNCTIONS - 2, result
    assert lines['f7'][1] > 1.3 * lines['f7'][0] * sum(n for _, n in lines.values()) / sum(n for n, _ in lines.values()), lines


@test
def keys_that_are_numbers_are_numbers_for_programs():
    with open('work.sh', 'w', encoding='utf-8') as script:
        script.write('#!/bin/sh\nfor i in 1 2 3; do seq 20000 | sort -R | md5sum; done\n')
    os.chmod('work.sh', 0o755)
    record('n.data', './work.sh', '--sample-cpu')
    rows = json.loads(pace('diff', '--json', '-s', 'cpu,pid,comm', 'n.data', 'n.data').out)['events'][0]['rows']
    report = json.loads(pace('report', '--json', '-g', 'none', '-s', 'cpu,pid,comm', '-i', 'n.data').out)['events'][0]['rows']
    assert {(row['cpu'], row['pid'], row['comm']) for row in rows} == {(row['cpu'], row['pid'], row['comm']) for row in report}, (rows, report)
    assert all(isinstance(row['cpu'], int) and isinstance(row['pid'], int) for row in rows) and len(rows) > 2, rows


@test
def keys_that_there_is_nothing_for_are_refused():
    needs('gcc')
    a = program('a', ms=200)
    record('a.data', a)
    for key, reason in (('srcline_from', 'branches'), ('symbol_to', 'branches'), ('parent', 'callers by name'),
                        ('symbol_daddr', "'a.data': the recording does not have addresses of data: record with -d")):
        result = pace('diff', '-s', f'dso,{key}', 'a.data', 'a.data')
        assert result.status == 2 and f"'{key}'" in result.err and reason in result.err and not result.out, result
    # Lines tell more apart than files, whichever is asked for first.
    for keys in ('srcline,srcfile', 'srcfile,srcline'):
        assert re.search(r'many\.c:\d+', pace('diff', '-s', keys, 'a.data', 'a.data').out), keys


@test
def records_can_be_dumped_before_the_comparison():
    can_record()
    perf_works()
    for name in ('a.data', 'b.data'):
        assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', name, 'sh', '-c', 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done').status == 0
    ours, theirs = (run(tool, 'diff', '-D', 'a.data', 'b.data') for tool in (PACE, 'perf'))
    parts = [pace('report', '-D', '-i', name).out for name in ('a.data', 'b.data')] + [pace('diff', 'a.data', 'b.data').out]
    assert ours.status == 0 and ours.out == ''.join(parts), ours
    kinds = [collections.Counter(re.findall(r': PERF_RECORD_(\w+)', result.out)) for result in (ours, theirs)]
    # perf writes some of its own records otherwise.
    for kind in ('SAMPLE', 'MMAP2', 'COMM', 'EXIT'):
        assert kinds[0][kind] == kinds[1][kind] > 0, (kind, kinds)


if __name__ == '__main__':
    main()
