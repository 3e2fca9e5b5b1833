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
import struct
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
    result = pace('annotate', '--no-source', '--all', '-i', path, *options)
    assert is_well(result) or 'warning: there are no samples, or none that match the options' in result.err, result
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
    for _ in range(8):
        result = run(PACE, 'record', '-q', *options, '-o', output, '--', *command)
        assert result.status == 0, result
        # The head of a procedure linkage table, which is seldom met, is part of _init to perf.
        if '_dl_runtime_resolve@plt' not in pace('report', '-i', output, '-g', 'none', '-s', 'sym').out:
            break
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
template <typename F> __attribute__((noinline)) static long apply(F f, int n) { long s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
int main()
{
	std::map<std::string, std::vector<int>> table;
	long sum = 0;
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 3000; i++)
			table[std::to_string(i % 97)].push_back(i * 31 % 1009);
		for (auto &row : table)
			std::sort(row.second.begin(), row.second.end(), [](int a, int b) { return a % 10 < b % 10; });
		sum += apply([](int i) { return shape::power<long, 5>::of(i) + shape::box<int>{i, i + 1}.area(); }, 20000);
	}
	printf("%ld\n", sum);
}
'''


def inlined(path, **how):
    """A recording of that program."""
    perf_works()
    needs('g++', 'objdump')
    open('inlined.cc', 'w').write(INLINED)
    assert run('g++', '-O2', '-g', '-o', 'inlined', 'inlined.cc').status == 0
    return record(path, './inlined', **how)


@test
def an_inline_heavy_program_has_the_same_shares_at_the_same_addresses():
    path = inlined('inlined.data')
    compare(path, '-d', 'inlined', least=3, least_rows=50)
    for kind in ('local-hits', 'global-period'):
        compare(path, '-d', 'inlined', '--percent-type', kind, least=3)
    # All samples of a clock have the same period
    assert pace_annotate(path, '--percent-type', 'global-hits') == pace_annotate(path, '--percent-type', 'global-period')
    compare(path, '-d', 'inlined', '-s', 'main')
    compare(path, '-d', 'inlined', '-M', 'intel', least=3)


@test
def samples_of_one_cpu_have_shares_of_their_own():
    path = inlined('cpus.data', options=('-a', '-F', '2000', '-e', 'cpu-clock'))
    functions = 0
    for cpu in ('0', '1'):
        compare(path, '-d', 'inlined', '-C', cpu, least=0, least_rows=0)
        functions += len(pace_annotate(path, '-d', 'inlined', '-C', cpu))
    assert functions >= 1
    refused = pace('annotate', '-i', record('one.data', './inlined'), '-C', '0')
    assert refused.status == 2 and 'on which CPU' in refused.err, refused


@test
def several_events_stand_side_by_side():
    path = inlined('events.data', options=('-F', '4000', '-e', 'cpu-clock,task-clock'))
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
def without_a_name_the_hottest_code_stands_there_and_the_rest_is_summed_up():
    needs('sqlite3')
    path = record('hottest.data', 'sqlite3', ':memory:', 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 700000) select sum(x * 3 % 7) from c;')
    whole, text = parse(pace('annotate', '--all', '--no-source', '-i', path).out), pace('annotate', '--no-source', '-i', path)
    usual = parse(text.out)
    assert 1 <= len(usual) <= 5 and list(usual) == list(whole)[:len(usual)], (list(usual), list(whole))
    assert f' of {len(usual)} of {len(whole)} functions are shown:' in text.err and text.err.count('--all everything') == 1, text.err
    sums = [float(share) for share in re.findall(r'^ +(\d+\.\d\d) :   \.\.\. \d+ more$', text.out, re.M)]
    shown = sum(share for rows in usual.values() for share, in rows.values())
    assert abs(sum(sums) + shown - 100 * len(usual)) < 0.05 * (len(sums) + len(usual)) + 2, (sums, shown)
    for key, rows in usual.items():
        assert rows.items() <= whole[key].items() and len(rows) <= 40, key
        assert max(rows.values()) == max(whole[key].values()), key
    # As much of it as is asked for.
    name = next(iter(usual))
    around = parse(pace('annotate', '--no-source', '-i', path, '--context', '0', '--max-functions', '1').out)
    assert list(around) == [name] and 1 <= len(around[name]) <= 8 and 0 not in [share for share, in around[name].values()], around
    assert len(parse(pace('annotate', '--no-source', '-i', path, '--max-functions', '2', '--all').out)) == 2
    assert pace('annotate', '--no-source', '-i', path, '--context', '1000000', '--all').out == pace('annotate', '--no-source', '-i', path, '--all').out


@test
def perfs_options_have_their_meaning_or_a_reason():
    perf_works()
    known = set(re.findall(r'--[a-z0-9-]+', pace('annotate', '-h').out))
    listed = set(run('perf', 'annotate', '--list-opts').out.split())
    # Of perfs after 6.1, and what is refused.
    later = {'--addr2line', '--skip-empty', '--itrace'}
    assert len(listed) > 25 and listed - later <= known, listed - known
    inlined('o.data')
    usual = pace('annotate', '--all', '-i', 'o.data').out
    assert usual.count('Percent') >= 1, usual[:500]
    for words in (['--stdio2'], ['--group'], ['-m'], ['--stdio-color', 'never'], ['--stdio-color=auto'], ['--demangle-kernel'], ['--percent-type', 'period-local']):
        result = pace('annotate', '--all', '-i', 'o.data', *words)
        assert result.status == 0 and result.out == usual, (words, result)
    for kind in ('local-hits', 'global-period', 'global-hits'):
        shown = pace('annotate', '-i', 'o.data', '--percent-type', kind).out
        assert shown and shown == pace('annotate', '-i', 'o.data', '--percent-type', '-'.join(reversed(kind.split('-')))).out, kind
        # perf's global-hits are 0.
        if kind != 'global-hits':
            compare('o.data', '--percent-type', kind)
    assert pace('annotate', '-D', '-i', 'o.data').out == pace('report', '-D', '-i', 'o.data').out != ''
    for words, reason in ((['--itrace'], 'perf inject --itrace'), (['--itrace=i1us'], 'perf inject --itrace'), (['--tui', '--json'], '--tui'), (['--tui', '--all'], '--tui'),
                          (['--stdio-color', 'sometimes'], 'is none of'), (['--percent-type', 'local-'], 'is none of')):
        result = pace('annotate', '-i', 'o.data', *words)
        assert result.status in (1, 2) and reason in result.err and not result.out, (words, result)
    # Files of source are looked for below a directory, without so many of their own.
    depth = len([part for part in os.getcwd().split('/') if part])
    os.makedirs('moved')
    os.rename('inlined.cc', 'moved/inlined.cc')
    line = 'table[std::to_string(i % 97)].push_back'
    words = ['-i', 'o.data', '-s', 'main']
    assert line in usual and line not in pace('annotate', *words).out
    assert line in pace('annotate', *words, '--prefix', os.path.abspath('moved'), '--prefix-strip', str(depth)).out
    assert line not in pace('annotate', *words, '--prefix', os.path.abspath('moved'), '--prefix-strip', str(depth - 1)).out


# Members of the two lie at other offsets, so that an instruction's text says which it accesses.
TYPES = r"""
#include <stdlib.h>
struct node { struct node *next; long value; struct { long x, y; } pos; };
struct table { char head[256]; unsigned n; struct node *first; double scale; };
static struct table table;
__attribute__((noinline)) static long walk(struct table *t)
{
	long sum = 0;
	t->n++;
	for (struct node *n = t->first; n; n = n->next) {
		sum += n->value + n->pos.y;
		n->pos.x++;
		if (sum & 1)
			t->scale *= 1.5;
	}
	return sum + t->n;
}
int main(void)
{
	long sum = 0;
	for (int i = 0; i < 200000; i++) {
		struct node *n = calloc(1, sizeof(*n));
		n->value = i;
		n->next = table.first;
		table.first = n;
	}
	for (int i = 0; i < 300; i++)
		sum += walk(&table);
	return sum & 1;
}
"""
MEMBERS = {0: 'struct node +0 (next)', 8: 'struct node +0x8 (value)', 16: 'struct node +0x10 (pos.x)', 24: 'struct node +0x18 (pos.y)',
           256: 'struct table +0x100 (n)', 264: 'struct table +0x108 (first)', 272: 'struct table +0x110 (scale)'}


def typed(path='types.data'):
    """A recording of TYPES; what objdump says of walk(): address -> (name of the instruction, offset of what it accesses or None)."""
    if os.uname().machine != 'x86_64':
        skip('the instructions are those of x86-64')
    needs('objdump')
    with open('types.c', 'w', encoding='utf-8') as file:
        file.write(TYPES)
    program = build_c(os.path.abspath('types.c'), 'types', '-no-pie')
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-F', '5000', '-o', path, program).status == 0
    code, inside = {}, False
    for line in run('objdump', '-d', '--no-show-raw-insn', program).out.split('\n'):
        inside = line.endswith('<walk>:') or (inside and line != '')
        found = re.match(r' +([0-9a-f]+):\t(\S+)\s*(.*)', line)
        if inside and found:
            # The stack and addresses that are only computed are no members.
            memory = re.search(r'(0x[0-9a-f]+)?\(%r(?!sp|bp|ip)[^)]*\)', found[3]) if not found[2].startswith(('lea', 'nop')) else None
            code[int(found[1], 16)] = (found[2], int(memory[1] or '0', 16) if memory else None)
    assert len({offset for _, offset in code.values()}) > 7, code
    return code


def types_in(text):
    """Address -> what stands behind its instruction."""
    rows = (re.match(r' +[\d.]+ +: +([0-9a-f]+):[^#]*(?:# 0x[^#]*|# [0-9a-f]+ <[^#]*)?(?:# data-type: (.*))?$', line) for line in text.split('\n'))
    return {int(row[1], 16): row[2] for row in rows if row}


@test
def types_stand_behind_instructions_in_perfs_words():
    code = typed()
    shown = pace('annotate', '-i', 'types.data', '--code-with-type', 'walk')
    assert is_well(shown), shown
    types = types_in(shown.out)
    assert set(types) == set(code), (types, code)
    for address, (_, offset) in code.items():
        assert types[address] == MEMBERS.get(offset), (hex(address), code[address], types[address])
    # What each accesses in JSON, too.
    document = json.loads(pace('annotate', '-i', 'types.data', '--code-with-type', '--json', 'walk').out)
    for row in document['functions'][0]['instructions']:
        told, offset = row.get('data_type', {}), code[int(row['address'], 16)][1]
        if offset is None:
            assert not told.get('type'), row
        else:
            assert MEMBERS[offset] == f"{told['type']} +{told['offset']:#x} ({told['member']})".replace('+0x0 ', '+0 '), row
            assert told['size'] == (32 if offset < 256 else 280), row
    # Nothing is there unless it is asked for; -q leaves types.
    assert 'data-type' not in pace('annotate', '-i', 'types.data', 'walk').out
    assert types_in(pace('annotate', '-q', '-i', 'types.data', '--code-with-type', 'walk').out) == types
    wrong = pace('annotate', '--code-with-type', '--diff', 'types.data', 'types.data')
    assert wrong.status == 2 and 'leave --diff out' in wrong.err, wrong


@test
def it_is_said_why_there_are_no_types():
    typed()
    run('strip', '--strip-debug', 'types')
    os.remove('types.data')
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-F', '1000', '-o', 'types.data', './types').status == 0
    shown = pace('annotate', '-i', 'types.data', '--code-with-type', 'walk')
    assert 'no data types: the file has no debug information (-g)' in shown.out and '# data-type' not in shown.out, shown
    document = json.loads(pace('annotate', '-i', 'types.data', '--code-with-type', '--json', 'walk').out)
    assert document['functions'][0]['no_types'] == 'the file has no debug information (-g)', document


@test
def newer_perfs_have_the_same_types_in_code():
    perf_works()
    if perf_version() < (7, 0):
        skip('perf shows types in code since 7.0')
    code = typed()
    ours = types_in(pace('annotate', '-i', 'types.data', '--code-with-type', 'walk').out)
    result = run('perf', 'annotate', '--stdio', '-f', '-i', 'types.data', '--code-with-type', '-s', 'walk')
    assert result.status == 0, result
    theirs = types_in(result.out)
    assert set(theirs) == set(code) and sum(text is not None for text in theirs.values()) > 5, result
    assert all(text in (None, ours[address]) for address, text in theirs.items()), (ours, theirs)


def instructions_of(*options):
    """Name -> samples that are good, bad, none, and the same of places, from text and JSON."""
    text = pace('annotate', '-i', 'types.data', '--insn-stat', '--disassembler', 'objdump', *options)
    assert text.status == 0, text
    rows = {row[1].strip(): tuple(map(int, row[2].split())) for row in re.finditer(r'^  (\S.{19}): +((?:\d+ *){6})$', text.out, re.M)}
    document = json.loads(pace('annotate', '-i', 'types.data', '--insn-stat', '--disassembler', 'objdump', '--json', *options).out)
    assert 'types' not in document and {row['name']: tuple(row[key] for key in ('good', 'bad', 'none', 'good_places', 'bad_places', 'none_places'))
                                        for row in document['instructions']} == rows, (text, document)
    sums = [sum(row[i] for row in rows.values()) for i in range(3)]
    total = re.search(r'^total (\d+) samples, ok (\d+) \(.*%\), bad (\d+) \(.*%\), no memory access (\d+) \(', text.out, re.M)
    assert [sum(sums), *sums] == list(map(int, total.groups())), text
    return rows


@test
def instructions_are_counted_by_name():
    code = typed()
    found = instructions_of('--skid', '0')
    samples = collections.Counter(int(line, 16) for line in pace('script', '-i', 'types.data', '-F', 'ip').out.split())
    assert sum(samples.values()) == sum(sum(row[:3]) for row in found.values()), found
    others = sum(n for address, n in samples.items() if address not in code)
    for name in {name for name, _ in code.values()}:
        good, none = ([samples[a] for a, (is_called, offset) in code.items() if is_called == name and (offset is None) == is_none and samples[a]] for is_none in (0, 1))
        row = found.get(name, (0,) * 6)
        # main() and what it calls have instructions of the same names.
        assert sum(good) <= row[0] <= sum(good) + others and sum(none) <= row[2] <= sum(none) + others, (name, good, none, row)
        assert len(good) <= row[3] and len(none) <= row[5], (name, row)
    # All samples of a timer are of the instruction before; those of the loop's beginning come from two places.
    before = instructions_of()
    assert sum(row[0] for row in before.values()) > 0.8 * sum(row[0] + row[1] + row[2] for row in before.values()), before
    outcomes = pace('annotate', '-i', 'types.data', '--type-stat').out
    assert sum(int(n) for n, what in re.findall(r'^ +(\d+) +[\d.]+%  (.*)$', outcomes, re.M) if what == '(no memory access)') == sum(row[2] for row in before.values()), (outcomes, before)
    both = pace('annotate', '-i', 'types.data', '--type-stat', '--insn-stat', '--data-type').out
    assert both.startswith(outcomes) and 'Annotate Instruction stats' in both and '\nstruct node (32 bytes): ' in both, both


@test
def every_disassembler_agrees_on_where_samples_are():
    path = inlined('engines.data')
    objdump = pace_annotate(path, '-d', 'inlined', '--disassembler', 'objdump')
    # Without LLVM there is nothing to compare, but it says so
    llvm = pace('annotate', '--all', '-i', path, '-d', 'inlined', '--no-source', '--disassembler', 'llvm')
    if 'no libLLVM' in llvm.out:
        skip('no LLVM library is installed')
    assert by_event(parse(llvm.out)) == objdump
    raw = pace_annotate(path, '-d', 'inlined', '--disassembler', 'raw')
    assert {key: round(sum(rows.values())) for key, rows in raw.items()} == {key: round(sum(rows.values())) for key, rows in objdump.items()}


@test
def a_function_of_a_jit_has_the_shares_that_perf_shows_after_inject():
    perf_works()
    needs('node', 'objdump')
    hot = os.path.join(TOP, 'tests/live/programs/hot.js')
    record('perf.data', 'node', '--perf-prof', hot, '700', options=('-k', 'mono', '-e', 'cpu-clock', '-F', '999'))
    assert run('perf', 'inject', '-j', '-i', 'perf.data', '-o', 'injected.data').status == 0
    # Of all functions of node itself it would take perf minutes.
    files = re.findall(r'% +(jitted-\S+)', run('perf', 'report', '--stdio', '-s', 'dso', '-i', 'injected.data').out)
    result = run('perf', 'annotate', '--stdio', '--no-source', '-f', '-i', 'injected.data', '-d', ','.join(files))
    theirs = {key: rows for key, rows in by_event(parse(result.out)).items() if key[0].startswith('jitted-')}
    ours = {key: rows for key, rows in pace_annotate('perf.data').items() if key[0].endswith('.dump')}

    def of_offsets(functions):
        return sorted(sorted((address - start, share) for address, share in rows.items()) for (_, start, _), rows in functions.items())

    # Code that the dump places into the program's own file has its symbols here.
    assert all(rows in of_offsets(theirs) for rows in of_offsets(ours)), (of_offsets(theirs), of_offsets(ours))
    assert max(len(rows) for rows in ours.values()) > 5, ours
    text = pace('annotate', '-i', 'perf.data', '--max-functions', '1').out
    assert re.search(f'{OPTIMISED}hot ', text) and '+0x' in text, text


def counts_in_script(path, dso):
    """{(function, address): samples} in a DSO."""
    counts = collections.Counter()
    for line in pace('script', '-i', path, '-F', 'ip,sym,dso').out.splitlines():
        found = re.match(r'^ *([0-9a-f]+) (.*) \((.*)\)$', line)
        if found and found[3] == dso:
            counts[found[2], int(found[1], 16)] += 1
    return counts


@test
def kernel_functions_have_all_their_samples_and_say_why_there_is_no_code():
    needs_root()
    path = record('kernel.data', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=64k', 'count=60000')
    functions = json.loads(pace('annotate', '-i', path, '--json').out)['functions']
    kernel = [f for f in functions if f['dso'] == '[kernel.kallsyms]']
    if not kernel:
        skip('the kernel was not sampled, or hides its symbols')
    wanted = counts_in_script(path, '[kernel.kallsyms]')
    got = collections.Counter()
    for f in kernel:
        assert 'no_code' in f or f['code_from'], f
        assert 'vmlinux' in f.get('no_code', 'vmlinux'), f['no_code']
        for row in f['instructions']:
            for count in row['counts']:
                got[f['name'], int(row['address'], 16)] += count['samples']
    # An instruction has all samples that lie in it; without code these are the addresses themselves
    if any('no_code' in f for f in kernel):
        assert got == {key: n for key, n in wanted.items() if key in got}
        assert sum(got.values()) > 50
    text = pace('annotate', '-i', path, kernel[0]['name']).out
    assert 'no code: ' in text or 'disassembl' in text or ':   ' in text, text


@test
def the_vdso_is_disassembled():
    open('clock.c', 'w').write('#include <time.h>\nint main(void) { struct timespec t; long s = 0; for (int i = 0; i < 20000000; i++) '
                               '{ clock_gettime(CLOCK_MONOTONIC, &t); s += t.tv_nsec; } return s == 1; }\n')
    path = record('clock.data', build_c(os.path.abspath('clock.c'), 'clock'))
    functions = json.loads(pace('annotate', '-i', path, '-d', '[vdso]', '--json').out)['functions']
    if not functions:
        skip('this kernel has no vdso that tells the time')
    first = functions[0]
    assert 'code_from' in first and len(first['instructions']) > 10, first
    assert first['instructions'][-1]['bytes'], first
    counted = sum(c['samples'] for row in first['instructions'] for c in row['counts'])
    assert counted == first['counts'][0]['samples'] > 0


# What llvm-lnt expects of its recording (its tests/testing/cPerf.py): words of arm64, and percent of the function.
LNT_FIB = [
    (0xa9be4ff4, 22.476272172208624), (0xa9017bfd, 20.81533649797271), (0x910043fd, 0), (0x71000813, 0), (0x540000eb, 0),
    (0x51000400, 10.065491723992467), (0x97fffffa, 0), (0x2a0003f4, 5.858831022967777), (0x2a1303e0, 0), (0x97fffff7, 0),
    (0x0b140000, 7.57924022814841), (0xa9417bfd, 19.240308514111305), (0xa8c24ff4, 13.964519840598708), (0xd65f03c0, 0)]


def write_arm64_elf(path, offset, words, name, build_id):
    """A program of one function, which lies where the recording says, and claims to be its build."""
    code = struct.pack(f'<{len(words)}I', *words)
    strings = b'\0' + name.encode() + b'\0'
    names = b'\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0'
    note = struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id
    symtab_at = offset + len(code)
    symtab = bytes(24) + struct.pack('<IBBHQQ', 1, 0x12, 0, 1, 0x400000 + offset, len(code))
    strtab_at, names_at = symtab_at + len(symtab), symtab_at + len(symtab) + len(strings)
    note_at = (names_at + len(names) + 7) // 8 * 8
    sections_at = (note_at + len(note) + 7) // 8 * 8
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 183, 1, 0x400000 + offset, 64, sections_at, 0, 64, 56, 1, 64, 6, 4)
    segment = struct.pack('<IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, symtab_at, symtab_at, 0x10000)

    def section(at, kind, flags, address, where, size, link=0, info=0, each=0):
        return struct.pack('<IIQQQQIIQQ', at, kind, flags, address, where, size, link, info, 8, each)

    body = ((header + segment).ljust(offset, b'\0') + code + symtab + strings + names).ljust(note_at, b'\0') + note
    sections = (bytes(64) + section(1, 1, 6, 0x400000 + offset, offset, len(code)) + section(7, 2, 0, 0, symtab_at, len(symtab), 3, 1, 24) +
                section(15, 3, 0, 0, strtab_at, len(strings)) + section(23, 3, 0, 0, names_at, len(names)) +
                section(33, 7, 2, 0, note_at, len(note)))
    open(path, 'wb').write(body.ljust(sections_at, b'\0') + sections)


@test
def percentages_of_llvm_lnt_are_the_same():
    path = os.path.join(needs_shared('fixtures/llvm__llvm-lnt'), 'tests__runtest__Inputs__test-suite-cmake__fake-results.perf_data')
    os.makedirs('root/root')
    write_arm64_elf('root/root/fib', 0x6c8, [word for word, _ in LNT_FIB], 'fib',
                    bytes.fromhex('52d68e9c60a5ae9ba972e8f20444fcba9401ad33'))
    read = json.loads(pace('annotate', '-i', path, '--symfs', os.path.abspath('root'), '--json', 'fib').out)
    assert read['events'][0]['period'] == 240949386
    function, = read['functions']
    assert int(function['address'], 16) == 0x4006c8
    whole = function['counts'][0]['period']
    assert abs(100 * whole / 240949386 - 99.77243187496647) < 1e-9
    for row, (word, share) in zip(function['instructions'], LNT_FIB, strict=True):
        assert bytes.fromhex(row['bytes']) == struct.pack('<I', word)
        got = 100 * row['counts'][0]['period'] / whole if row['counts'] else 0
        assert abs(got - share) < 1e-9, (row, share)
    if function['disassembler'].startswith('libLLVM'):
        texts = [re.sub(' +', ' ', row['text']) for row in function['instructions']]
        assert texts[0] == 'stp x20, x19, [sp, #-0x20]!' and texts[4] == 'b.lt 0x4006f4' and texts[13] == 'ret', texts
        calls = [row['target_name'] for row in function['instructions'] if row.get('flow') == 'call']
        assert calls == ['fib', 'fib'], calls


if __name__ == '__main__':
    main()
