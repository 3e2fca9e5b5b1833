#!/usr/bin/env python3
"""`pace diff` beside `perf diff`: the same rows with the same figures; and what perf cannot do: tell change from chance.

Not compared: what only the baseline has, for which perf prints no difference; functions without a name."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403

FUNCTIONS = 50


def program(name, slow=1.0, ms=600):
    """Fifty functions that take their time by turns; f7 takes `slow` times as long as its neighbours."""
    os.makedirs(name, exist_ok=True)
    path = f'{name}/many.c'
    with open(path, 'w', encoding='utf-8') as file:
        file.write('#include <time.h>\nstatic volatile unsigned long sink;\n')
        for i in range(FUNCTIONS):
            n = int(4000 * (slow if i == 7 else 1))
            file.write(f'__attribute__((noinline)) void f{i}(void) {{ for (int i = 0; i < {n}; i++) sink += i * {i + 1}; }}\n')
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
    record('a.data', a)
    record('b.data', b)
    record('c.data', b)
    compared = 0
    for n_columns, options, files in ((2, [], 'ab'), (2, ['-c', 'delta'], 'ab'), (2, ['-c', 'ratio'], 'ab'), (2, ['-c', 'wdiff:2,3'], 'ab'),
                                      (4, ['-p'], 'ab'), (4, ['-c', 'ratio', '-p'], 'ab'), (2, ['-s', 'symbol'], 'ab'),
                                      (2, ['-s', 'comm,symbol'], 'ab'), (2, ['-s', 'dso'], 'ab'), (3, [], 'abc'),
                                      (2, ['-S', 'f7,f8'], 'ab'), (2, ['-S', 'f7,f8', '--percentage', 'absolute'], 'ab'),
                                      (2, ['-d', 'many'], 'ab')):
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


@test
def one_slower_function_of_fifty_is_found_and_nothing_else():
    needs('gcc')
    a, b = program('a', ms=1200), program('b', 1.2, ms=1200)
    for i in range(5):
        record(f'a{i}', a)
        record(f'b{i}', b)
    result = pace('diff', '--json', *[f'a{i}' for i in range(5)], '--', *[f'b{i}' for i in range(5)])
    assert result.status == 0, result
    rows = json.loads(result.out)['rows']
    different = [row['symbol'] for row in rows if row['significant']]
    slower = next(row for row in rows if row['symbol'] == '[.] f7')
    assert abs(slower['ratio'] - 1.2) < 0.15, slower
    # That nothing else ever is called different cannot be asked for: in one of twenty tests something may be.
    assert '[.] f7' in different and len(different) <= 2, (different, result.out)


@test
def words_say_which_function_is_slower_and_by_how_much():
    needs('gcc')
    a, b = program('a'), program('b', 1.6)
    for i in range(3):
        record(f'a{i}', a)
        record(f'b{i}', b)
    text = pace('diff', 'a0', 'a1', 'a2', '--', 'b0', 'b1', 'b2').out
    match = re.search(r'^# f7 is slower by (\d+)% \+- (\d+) \(', text, re.M)
    assert match and abs(int(match[1]) - 60) < 2 * int(match[2]), text
    assert re.search(r'^ .*\+- \d+  \*  many .*f7$', text, re.M), text
    back = pace('diff', 'b0', 'b1', 'b2', '--', 'a0', 'a1', 'a2').out
    assert re.search(r'^# f7 is faster by \d+% ', back, re.M), back


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


if __name__ == '__main__':
    main()
