#!/usr/bin/env python3
"""The installed perf as oracle for annotate: the same functions, and at each address the same share, although perf has objdump decode.

Where they differ on purpose:
- perf reads no jitdump itself: what it shows of JIT code is compared with the samples as `script` lists them;
- perf has nothing to disassemble for the vdso and the kernel here: then only the numbers of samples are compared, with `script`;
- perf begins a kernel function where its padding begins (__pfx_f); both say the same of each address;
- perf 6.1 shows 0 for global-hits; and with -s it takes the function for everything, so that global is local;
- two functions of one size at one address have one name of several: functions are compared by address.
"""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403

ROW = re.compile(r'^ +((?:\d+\.\d\d +)+): +([0-9a-f]+):')
TITLE = re.compile(r'Source code & Disassembly of (.*) for (.*) \(')
START = re.compile(r'^ +:(?: \d+)? +([0-9a-f]{8,16}) <(.*)>:$')


def parse(text):
    """{(DSO, start): ([events], {address: shares})} of what annotate prints: one entry for each function and event."""
    functions, dso, events, rows = {}, None, None, None
    for line in text.split('\n'):
        found = TITLE.search(line)
        if found:
            dso, events, rows = found[1], found[2].split(', '), None
            continue
        found = START.match(line)
        if found and rows is None:
            rows = {}
            functions[dso, int(found[1], 16), tuple(events)] = rows
            continue
        found = ROW.match(line)
        if found and rows is not None:
            rows[int(found[2], 16)] = [float(share) for share in found[1].split()]
    return functions


def by_event(functions):
    """{(DSO, start, event): {address: share}} without what is 0."""
    out = {}
    for (dso, start, events), rows in functions.items():
        for i, event in enumerate(events):
            shares = {address: row[i] for address, row in rows.items() if row[i]}
            if shares:
                out[dso, start, event] = shares
    return out


def perf_annotate(path, *options):
    result = run('perf', 'annotate', '--stdio', '--no-source', '-f', '-i', path, *options)
    assert result.status == 0, result
    return by_event(parse(result.out))


def pace_annotate(path, *options):
    result = pace('annotate', '--no-source', '-i', path, *options)
    assert result.status == 0, result
    return by_event(parse(result.out))


def file_of(names):
    return os.path.basename(names[0])


def compare(path, *options, least=1, least_rows=1):
    """Every function that perf shows is shown here, with the same shares at the same addresses."""
    theirs, ours = perf_annotate(path, *options), pace_annotate(path, *options)
    n = 0
    for key, shares in theirs.items():
        # perf prints the path of what it decodes where that is another
        mine = [value for other, value in ours.items() if other[1:] == key[1:] and os.path.basename(other[0]) == os.path.basename(key[0])]
        assert mine, (key, sorted(ours)[:50])
        off = {hex(a): (shares.get(a, 0), mine[0].get(a, 0)) for a in set(shares) | set(mine[0])
               if abs(shares.get(a, 0) - mine[0].get(a, 0)) > 0.011}
        assert not off, (key, off)
        n += len(shares)
    assert len(theirs) >= least and n >= least_rows, (len(theirs), n)
    print(f'# {len(theirs)} functions, {n} addresses')


def record(output, *command, options=('-F', '5000', '-e', 'cpu-clock')):
    result = run(PACE, 'record', '-q', *options, '-o', output, '--', *command)
    assert result.status == 0, result
    return output


INLINED = r'''
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>
namespace shape {
template <typename T> struct box { T w, h; T area() const { return w * h % 1009; } };
template <typename T, int N> struct power { static T of(T x) { return x * power<T, N - 1>::of(x) % 65537; } };
template <typename T> struct power<T, 0> { static T of(T) { return 1; } };
}
template <typename F> static long apply(F f, int n) { long s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
int main()
{
	std::map<std::string, std::vector<int>> table;
	long sum = 0;
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 3000; i++)
			table[std::to_string(i % 97)].push_back(i * 31 % 1009);
		for (auto &row : table)
			std::sort(row.second.begin(), row.second.end(), [](int a, int b) { return a % 10 < b % 10; });
		sum += apply([](int i) { return shape::power<long, 5>::of(i) + shape::box<int>{i, i + 1}.area(); }, 20000);
	}
	printf("%ld\n", sum);
}
'''


@test
def an_inline_heavy_program_has_the_same_shares_at_the_same_addresses():
    perf_works()
    needs('g++', 'objdump')
    open('inlined.cc', 'w').write(INLINED)
    assert run('g++', '-O2', '-g', '-o', 'inlined', 'inlined.cc').status == 0
    path = record('inlined.data', './inlined')
    compare(path, '-d', 'inlined', least=3, least_rows=50)
    for kind in ('local-hits', 'global-period'):
        compare(path, '-d', 'inlined', '--percent-type', kind, least=3)
    # All samples of a clock have the same period
    assert pace_annotate(path, '--percent-type', 'global-hits') == pace_annotate(path, '--percent-type', 'global-period')
    compare(path, '-d', 'inlined', '-s', 'main')
    compare(path, '-d', 'inlined', '-C', '0', least=0, least_rows=0)
    compare(path, '-d', 'inlined', '-M', 'intel', least=3)


@test
def several_events_stand_side_by_side():
    perf_works()
    needs('g++', 'objdump')
    open('inlined.cc', 'w').write(INLINED)
    assert run('g++', '-O2', '-g', '-o', 'inlined', 'inlined.cc').status == 0
    path = record('events.data', './inlined', options=('-F', '4000', '-e', 'cpu-clock,task-clock'))
    compare(path, '-d', 'inlined', least=4, least_rows=50)
    assert ' Percent         |' in pace('annotate', '-i', path, 'main').out


@test
def sqlite_and_a_stripped_library_have_the_same_shares():
    perf_works()
    needs('sqlite3', 'objdump')
    path = record('sqlite.data', 'sqlite3', ':memory:',
                  'with recursive c(x) as (select 1 union all select x + 1 from c where x < 700000) select sum(x * 3 % 7), count(*) from c;')
    compare(path, least=5, least_rows=40)


@test
def every_disassembler_agrees_on_where_samples_are():
    perf_works()
    needs('g++', 'objdump')
    open('inlined.cc', 'w').write(INLINED)
    assert run('g++', '-O2', '-g', '-o', 'inlined', 'inlined.cc').status == 0
    path = record('engines.data', './inlined')
    objdump = pace_annotate(path, '-d', 'inlined', '--disassembler', 'objdump')
    # Without LLVM there is nothing to compare, but it says so
    llvm = pace('annotate', '-i', path, '-d', 'inlined', '--no-source', '--disassembler', 'llvm')
    if 'no libLLVM' in llvm.out:
        skip('no LLVM library is installed')
    assert by_event(parse(llvm.out)) == objdump
    raw = pace_annotate(path, '-d', 'inlined', '--disassembler', 'raw')
    assert {key: round(sum(rows.values())) for key, rows in raw.items()} == {key: round(sum(rows.values())) for key, rows in objdump.items()}


if __name__ == '__main__':
    main()
