#!/usr/bin/env python3
"""How `pace report` shows branch stacks: runs of code and the cycles they took, branches in call chains.

perf 6.1 (Debian's) crashes with a use after free whenever --total-cycles has rows, on all files tried; what it should show is
computed here from the branches that `perf script` prints."""
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402

SOURCE = '''__attribute__((noinline)) int inner(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s = s * 3 ^ i;
	return s;
}
__attribute__((noinline)) int outer(int n)
{
	int s = 0;
	while (n--)
		s += inner(n);
	return s;
}
int main(void) { return outer(10) & 1; }
'''


def program(name, *flags):
    """Path, addresses of functions, and where its code is mapped."""
    with open(f'{name}.c', 'w', encoding='utf-8') as file:
        file.write(SOURCE)
    path = build_c(os.path.abspath(f'{name}.c'), name, '-no-pie', *flags)
    functions = {words[2]: int(words[0], 16) for words in map(str.split, run('nm', path).out.split('\n')) if len(words) == 3}
    code = re.search(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', run('readelf', '-lW', path).out)
    offset, address, size = (int(text, 16) for text in code.groups())
    return functions, (path, address, size + 0xfff & ~0xfff, offset)


def cycles(n):
    return n << 4 | 2


def write_runs(path, name='made', flags=()):
    functions, mapped = program(name, *flags)
    inner, outer = functions['inner'], functions['outer']
    branches = [(inner + 0x12, inner + 4, 0), (inner + 0x14, inner + 8, cycles(7)), (outer + 0x10, inner, cycles(20)), (inner + 0x20, outer + 4, cycles(3)),
                (outer + 9, inner, cycles(11))]
    samples = [{'ip': inner + 4, 'branches': [branches[0][:2] + (cycles(5 + i % 2),), *branches[1:]]} for i in range(10)]
    # Here nothing is straight: backwards, out of what is mapped, too far; and a branch whose cycles were not counted.
    samples.append({'ip': inner, 'branches': [(inner + 0x10, inner, cycles(2)), (0x700000, inner + 0x18, cycles(4)), (outer, 0x700000, cycles(6)),
                                              (outer + 8, outer + 0x20, 2)]})
    handmade.write(path, handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD | handmade.BRANCH_STACK, samples, branch_type=1 << 3, program=mapped)


RUNS = {'[outer+0x4 -> outer+0x10]': (200, 10), '[? -> outer+0x9]': (110, 10), '[inner+0x0 -> inner+0x14]': (70, 10),
        '[inner+0x8 -> inner+0x12]': (55, 10), '[inner+0x0 -> inner+0x20]': (30, 10), '[? -> inner+0x10]': (2, 1),
        '[0x700000 -> 0x700000]': (4, 1), '[? -> outer+0x0]': (6, 1)}


@test
def runs_of_code_are_listed_by_the_cycles_they_took():
    write_runs('b.data', flags=['-g0'])
    result = pace('report', '-i', 'b.data', '--total-cycles', '-n', '-t', '|')
    assert result.status == 0, result
    head, *lines = result.out.strip().split('\n')
    assert head == '# Sampled Cycles%|Sampled Cycles|Avg Cycles%|Avg Cycles|Samples|[Program Block Range]|Shared Object'
    rows = [line.split('|') for line in lines]
    found = {row[5]: (int(row[1]), int(row[4])) for row in rows}
    assert found == RUNS, found
    total, means = sum(n for n, _ in found.values()), sum(n / times for n, times in found.values())
    for share, n, mean_share, mean, times, _, _ in rows:
        assert share == '%.2f%%' % (100 * int(n) / total) and mean == '%.1f' % (int(n) / int(times)), rows
        assert abs(float(mean_share[:-1]) - 100 * float(mean) / means) < 0.01, rows
    assert [int(row[1]) for row in rows] == sorted((int(row[1]) for row in rows), reverse=True)
    assert re.search(r'11 samples recorded, 53 branches with cycles in them, all shown', pace('report', '-i', 'b.data', '--total-cycles').out)


@test
def runs_have_lines_where_these_are_known():
    write_runs('b.data')
    document = json.loads(pace('report', '-i', 'b.data', '--total-cycles', '--json').out)
    assert document['events'][0]['period'] == 477, document
    blocks = {row['block']: row for row in document['events'][0]['rows']}
    first = next(text for text in blocks if text.endswith(' outer+0x4..0x10'))
    assert re.match(r'\[made\.c:(9|1\d) -> made\.c:(9|1\d)\]', first) and blocks[first]['period'] == 200 and blocks[first]['samples'] == 10, blocks
    functions = pace('report', '-i', 'b.data', '--total-cycles', '-F', 'cycles_sum,symbol', '-t', '|').out
    assert '316|[.] outer' in functions and '157|[.] inner' in functions, functions


# ---- instructions per cycle ----

FIELDS = handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD | handmade.BRANCH_STACK


def instructions(path):
    """Function -> addresses of its instructions."""
    found, name = {}, None
    for line in run('objdump', '-d', '-w', '--no-show-raw-insn', path).out.split('\n'):
        head = re.match(r'([0-9a-f]+) <(\w+)>:', line)
        name = head.group(2) if head else name
        at = re.match(r' +([0-9a-f]+):\t\S', line)
        if at:
            found.setdefault(name, []).append(int(at.group(1), 16))
    return found


def write_timed(path, stacks):
    """Samples with these branches, the newest first: from, to, cycles."""
    _, mapped = program('made')
    samples = [{'ip': stack[0][1], 'branches': [(source, target, cycles(n)) for source, target, n in stack]} for stack in stacks]
    handmade.write(path, FIELDS, samples, branch_type=1 << 3, program=mapped)


def ipc_of(stacks, code):
    """Function -> instructions per cycle of all runs in it, and the share of its instructions that they cover."""
    found = {name: [0, 0, set()] for name in code}
    for stack in stacks:
        for (end, _, n), (_, start, _) in zip(stack, stack[1:]):
            for name, addresses in code.items():
                if start in addresses and end in addresses and start <= end:
                    run_ = addresses[addresses.index(start):addresses.index(end) + 1]
                    found[name][0] += len(run_)
                    found[name][1] += n
                    found[name][2] |= set(run_)
    return {name: (total / n, 100 * len(covered) / len(code[name])) for name, (total, n, covered) in found.items() if n}


def timed_stacks():
    """Stacks of the program's own branches: what loops, what returns, what calls; and what no run can be made of."""
    functions, (path, *_) = program('made')
    code = {name: addresses for name, addresses in instructions(path).items() if name in ('inner', 'outer', 'main')}
    listing = run('objdump', '-d', '-w', '--no-show-raw-insn', path).out
    inner, outer = functions['inner'], functions['outer']
    loop = next((int(at, 16), int(to, 16)) for at, to in re.findall(r' ([0-9a-f]+):\tj\w+ +([0-9a-f]+) <inner', listing) if inner < int(to, 16) < int(at, 16))
    call = next(int(at, 16) for at in re.findall(r' ([0-9a-f]+):\tcall +[0-9a-f]+ <inner>', listing) if outer < int(at, 16))
    back = code['outer'][code['outer'].index(call) + 1]
    end = code['inner'][code['inner'].index(loop[0]) + 1]
    jump, enter, leave = lambda n: (*loop, n), lambda n: (call, inner, n), lambda n: (end, back, n)
    first, again, last = [jump(10), enter(3)], [jump(2), jump(7)], [leave(3), jump(2)]
    whole = [leave(3), jump(2), jump(4), jump(10), enter(6), leave(9)]
    return code, {'first': [first], 'again': [again], 'last': [last], 'both': [again, last], 'all': [first, again, again, last, whole],
                  'none': [[jump(2), (outer, 0x700000, 3), enter(0), leave(9)]]}


@test
def functions_have_the_instructions_per_cycle_of_all_runs_of_their_code():
    needs('objdump')
    code, stacks = timed_stacks()
    for name, of_name in stacks.items():
        write_timed('t.data', of_name)
        want = ipc_of(of_name, code)
        rows_ = json.loads(pace('report', '-i', 't.data', '-s', 'symbol', '-F', '+ipc_lbr', '--json').out)['events'][0]['rows']
        found = {row['symbol']: (row['ipc'], row['ipc_coverage']) for row in rows_ if row['ipc'] is not None}
        assert found.keys() == want.keys(), (name, found, want)
        assert all(abs(a - b) < 0.006 and abs(c - d) < 0.06 for (a, c), (b, d) in ((found[key], want[key]) for key in want)), (name, found, want)
        assert all('ipc_reason' in row for row in rows_ if row['ipc'] is None), rows_
        text = pace('report', '-i', 't.data', '-s', 'symbol,ipc', '-t', '|').out
        for key, (ipc, coverage) in want.items():
            assert re.search(rf'\[\.\] {key}\|{ipc:.2f} +\[ *{coverage:.1f}%\]', text), (name, text, want)
    assert want == {} and '|-\n' in text, (want, text)
    # They are not of branches alone.
    write_timed('t.data', stacks['all'])
    assert re.search(r'\d\.\d\d +\[', pace('report', '-i', 't.data', '--no-branch-stack', '-s', 'symbol,ipc_lbr').out)
    handmade.write_memory('m.data')
    for words, message in ((['-i', 't.data', '-s', 'dso,ipc_lbr'], 'needs rows by symbol'), (['-i', 'm.data', '-s', 'symbol,ipc_lbr'], 'no cycles between branches'),
                           (['-i', 't.data', '-F', 'symbol,ipc_null'], "'ipc_lbr' shows")):
        result = pace('report', *words)
        assert result.status == 2 and message in result.err, result


@test
def instructions_per_cycle_are_those_of_perf_where_no_runs_end_at_the_same_branch():
    """Of those that do perf counts one only; and of each it counts one instruction as covered."""
    needs('objdump')
    perf_works()
    if not re.search(r'version ([7-9]|\d\d)', run('perf', '--version').out):
        skip('perf 6.1 crashes, or shows numbers with fifteen digits')
    _, stacks = timed_stacks()
    for name in ('first', 'again', 'last', 'both'):
        write_timed('t.data', stacks[name])
        found = [re.findall(r'\[\.\] (\w+) +([1-9]\.\d\d|0\.\d*[1-9]\d*) ', result.out) for result in
                 (run('perf', 'report', '--stdio', '-i', 't.data', '-s', 'symbol'), pace('report', '-i', 't.data', '-s', 'symbol,ipc_lbr'))]
        assert found[0] == found[1] and found[0], (name, found)


# ---- branches in call chains ----

USER_CONTEXT = 2 ** 64 - 512


def write_history(path, program_of='made', loops=False):
    functions, mapped = program(program_of)
    inner, outer, main_ = functions['inner'], functions['outer'], functions['main']
    chain = [USER_CONTEXT, inner + 4, outer + 0x15, main_ + 10]
    again = [(inner + 0x12, inner + 4, cycles(4)), (inner + 0x14, inner + 8, cycles(6))] * 2 if loops else []
    samples = [{'ip': inner + 4, 'chain': chain,
                'branches': [(inner + 0x12, inner + 4, cycles(5 + i % 2) - (i == 3)), (inner + 0x14, inner + 8, cycles(7)), *again,
                             (outer + 0x10, inner, cycles(20 + i)), (inner + 0x20, outer + 4, cycles(3)), (outer + 9, inner, cycles(11))]}
               for i in range(10)]
    handmade.write(path, FIELDS | handmade.CALLCHAIN, samples, branch_type=1 << 3, program=mapped)


def graph_of(result):
    assert result.status == 0, result
    return [line.strip().lstrip('-') for line in result.out.split('\n') if re.match(r' {12}[ -]*[a-z]\w+ \S', line)]


@test
def branches_before_samples_are_drawn_as_by_perf():
    perf_works()
    write_history('h.data')
    words = ['-i', 'h.data', '--branch-history', '--no-children']
    ours = graph_of(pace('report', *words))
    # perf has no line for where the sample was taken itself, and of the callers only as many as there are more of them than branches
    leaf, *branches, caller = ours
    assert leaf == branches[0].split(' (')[0] and re.match(r'main made\.c:\d+ \(calltrace\)$', caller), ours
    assert branches == graph_of(run('perf', 'report', '--stdio', *words)) and len(branches) == 10, ours
    # With callers first perf has the two ends of each branch the wrong way round; time goes down here.
    down = graph_of(pace('report', '-i', 'h.data', '--branch-history', '-S', 'inner'))
    assert down[:len(ours)] == ours[::-1], (down, ours)


@test
def loops_in_the_history_are_told_once():
    write_history('h.data', loops=True)
    ours = graph_of(pace('report', '-i', 'h.data', '--branch-history', '--no-children'))
    assert len(ours) == 12 and any(re.search(r'\(cycles:7 iter:2\.0 avg_cycles:10\)$', line) for line in ours), ours


@test
def programs_read_what_is_known_of_branches():
    write_history('h.data')
    document = json.loads(pace('report', '-i', 'h.data', '--branch-history', '--no-children', '--json').out)
    row, = document['events'][0]['rows']
    node, seen = row['callers'][0], []
    while node:
        seen.append({key: node[key] for key in ('told', 'predicted', 'branches_from', 'cycles') if key in node})
        node = node.get('nodes', [None])[0]
    assert seen[:3] == [{}, {'told': 10, 'predicted': 9}, {'branches_from': 10, 'cycles': 55}] and seen[-1] == {}, seen


@test
def figures_sum_up_the_branches_before_samples():
    """perf 7.2 has them, too, and counts both ends of each branch."""
    functions, mapped = program('made')
    inner, outer = functions['inner'], functions['outer']
    places = [(inner + 0x12, inner + 4), (inner + 0x14, inner + 8), (outer + 0x10, inner), (inner + 0x20, outer + 4)]
    PREDICTED, MISPREDICTED, ABORTED = 2, 1, 8
    flags = [[PREDICTED | 4 << 4, MISPREDICTED | ABORTED | 10 << 4, PREDICTED, PREDICTED | 2 << 4], [PREDICTED | 8 << 4], [0, 6 << 4]]
    samples = [{'ip': inner + 4, 'chain': [USER_CONTEXT, inner + 4, outer + 0x15],
                'branches': [(*place, flag) for place, flag in zip(places, flags[i % 3])]} for i in range(12)]
    handmade.write('f.data', FIELDS | handmade.CALLCHAIN, samples, branch_type=1 << 3, program=mapped)
    all_flags = [flag for i in range(12) for flag in flags[i % 3]]
    told = [flag for flag in all_flags if flag & 3]
    timed = [flag >> 4 for flag in all_flags if flag >> 4]
    want = 100 * sum(flag & 2 for flag in told) / 2 / len(told), sum(flag & 8 for flag in all_flags) // 8, sum(timed) / len(timed)
    words = ['report', '-i', 'f.data', '--branch-history', '-s', 'symbol', '-g', 'none', '-F',
             '+callchain_branch_predicted,callchain_branch_abort,callchain_branch_cycles']
    row, = json.loads(pace(*words, '--no-children', '--json').out)['events'][0]['rows']
    found = [row[f'callchain_branch_{name}'] for name in ('predicted', 'abort', 'cycles')]
    assert abs(found[0] - want[0]) < 0.001 and found[1] == want[1] == 4 and abs(found[2] - want[2]) < 0.06, (found, want)
    assert pace(*words, '--no-children', '-t', '|').out.split('\n')[1] == '100.00%%|%.1f%%|%d|%.1f|[.] inner' % want
    # Of a caller they are those of the samples below it.
    rows_ = {row['symbol']: row for row in json.loads(pace(*words, '--json').out)['events'][0]['rows']}
    assert rows_['outer']['samples'] == 0 and rows_['outer']['callchain_branch_abort'] == 4, rows_
    result = pace('report', '-i', 'f.data', '-s', 'symbol,callchain_branch_cycles')
    assert result.status == 2 and '--branch-history' in result.err, result
    perf_works()
    if not re.search(r'version ([7-9]|\d\d)', run('perf', '--version').out):
        return
    theirs = run('perf', 'report', '--stdio', '-i', 'f.data', '--branch-history', '--no-children', '-s', 'sym,callchain_branch_predicted,callchain_branch_abort').out
    share, n = re.search(r'\[\.\] inner +([\d.]+)% +(\d+)', theirs).groups()
    assert int(n) == want[1] and abs(float(share) - 100 * sum(flag & 2 for flag in told) / 2 / len(all_flags) / 2) < 0.06, (theirs, want)


@test
def recordings_without_callers_have_a_history():
    functions, mapped = program('made')
    entries = [(functions['outer'] + 0x10, functions['inner'], 2)]
    handmade.write('b.data', FIELDS, [{'ip': functions['inner'], 'branches': entries}] * 3, branch_type=1 << 3, program=mapped)
    lines = graph_of(pace('report', '-i', 'b.data', '--branch-history', '--no-children'))
    assert [line.split()[0] for line in lines] == ['inner', 'inner', 'outer'], lines
    path = needs_shared('fixtures/google__perf_data_converter/src__quipper__testdata__perf.data.callgraph_and_branch-3.4')
    result = pace('report', '-i', path, '--branch-history', '--percent-limit', '5')
    assert result.status == 0 and len(result.out.split('\n')) > 50, result
    for words, message in [(['-i', path, '--branch-history', '-b'], '-b counts branches'), (['-i', path, '--branch-history', '--md'], '--json does'),
                           (['-i', path, '--branch-history', '--total-cycles'], '--total-cycles')]:
        result = pace('report', *words)
        assert result.status == 2 and message in result.err, (words, result)


def runs_of_script(text):
    """Bytes of runs (None: not known) -> times, cycles, of `perf script -F brstack`."""
    found = {}
    for line in text.split('\n'):
        entries = [entry.split('/') for entry in line.split()]
        for entry, before in zip(entries, entries[1:] + [None]):
            if not int(entry[5]):
                continue
            length = int(entry[0], 16) - int(before[1], 16) if before else None
            length = None if length is None or not 0 <= length <= 1 << 16 else length
            times, n = found.get(length, (0, 0))
            found[length] = times + 1, n + int(entry[5])
    return found


@test
def runs_of_a_recording_are_those_of_its_branches():
    perf_works()
    path = needs_shared('fixtures/google__perf_data_converter/src__quipper__testdata__perf.data.branch-4.14')
    theirs = runs_of_script(run('perf', 'script', '-i', path, '-F', 'brstack').out)
    result = pace('report', '-i', path, '--total-cycles', '-F', 'cycles_sum,sample,block', '-t', '|', '--no-unnamed-functions')
    ours = {}
    for line in result.out.strip().split('\n')[1:]:
        n, times, block = line.split('|')
        start, end = re.match(r'\[(\S+) -> (\S+)\]', block).groups()
        length = None if start == '?' else int(end.split('+')[-1], 16) - int(start.split('+')[-1], 16)
        ours[length] = ours.get(length, (0, 0))[0] + int(times), ours.get(length, (0, 0))[1] + int(n)
    assert ours == theirs and sum(times for times, _ in ours.values()) > 300 and None in ours, (ours, theirs)


@test
def what_has_no_cycles_has_no_runs():
    handmade.write_branches('b.data')
    handmade.write_memory('m.data')
    for words, message in [(['-i', 'm.data', '--total-cycles'], 'no cycles between branches'),
                           (['-i', 'b.data', '--total-cycles', '--no-branch-stack'], '--no-branch-stack'),
                           (['-i', 'b.data', '--total-cycles', '--mem-mode'], '--mem-mode'),
                           (['-i', 'b.data', '-F', 'cycles_sum,symbol'], '--total-cycles'), (['-i', 'b.data', '-s', 'block'], '--total-cycles')]:
        result = pace('report', *words)
        assert result.status == 2 and message in result.err, (words, result)


def without_section(path, bit, name):
    """A copy of a recording whose list of features does not have that one."""
    with open(path, 'rb') as file:
        data = bytearray(file.read())
    begin, size = struct.unpack_from('<QQ', data, 40)
    features, = struct.unpack_from('<Q', data, 72)
    assert features >> bit & 1, path
    row = begin + size + 16 * bin(features & (1 << bit) - 1).count('1')
    end = begin + size + 16 * (bin(features).count('1') + sum(bin(byte).count('1') for byte in data[80:104]))
    data[row:end] = data[row + 16:end] + bytes(16)
    struct.pack_into('<Q', data, 72, features & ~(1 << bit))
    with open(name, 'wb') as file:
        file.write(data)
    return name


@test
def branches_are_counted_where_the_recording_says_that_it_is_of_branches():
    """perf counts branches by default if there is the section BRANCH_STACK, and samples where there is none."""
    perf_works()
    root = needs_shared('fixtures/google__perf_data_converter')
    whole = f'{root}/src__quipper__testdata__perf.data.branch-4.14'
    BRANCH_STACK = 15
    bare = without_section(whole, BRANCH_STACK, 'bare.data')
    for path, of_branches in ((whole, True), (bare, False)):
        ours = pace('report', '-i', path, '-s', 'dso', '-g', 'none')
        theirs = run('perf', 'report', '--stdio', '-f', '-i', path, '-s', 'dso', '-g', 'none')
        n = [re.search(r'# Samples: (\d+)', text).group(1) for text in (ours.out, theirs.out)]
        assert n[0] == n[1], (path, ours, theirs)
        assert ('branches in them' in ours.out) == of_branches, ours
        # What is counted is said in its own word.
        unit = 'branches' if of_branches else 'samples'
        assert re.search(rf'(?m)^# \d+ {unit} \([\d.]+%\) in .* have no function name', ours.out), ours
        assert f'**: {n[0]} {unit}\n' in pace('report', '-i', path, '--md', '-s', 'dso').out
    assert 'branches in them' in pace('report', '-i', bare, '-b').out


main()
