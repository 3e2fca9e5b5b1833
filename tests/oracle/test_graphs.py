#!/usr/bin/env python3
"""Call graphs of `pace report` compared with those of `perf report`, on real recordings by others whose programs are not here.

Some forms are compared for each recording, chosen by its name so that they are always the same; all of them with PACE_EVERY_GRAPH=1.

Where the two differ, and what this test does about it:
- for code without names, pace shows addresses in the file, perf those in the process. Both end in the same three digits, so only these are
  compared; frames that are equal then count as one;
- a caller that no map covers: perf shows the address and goes on behind it; pace says why the stack ends. perf's are cut there too, by
  what `perf script` says of the address;
- an event with skid that the processor takes back (precise_ip): the sampled address is not the innermost of the callers any more. pace shows
  the sampled one, perf the other; the innermost frame is left out of both;
- --max-stack with callers first: perf counts from the outermost, pace from the sampled function as without; compared where callees are first;
- samples with a dump of the stack: without the programs perf does not walk it, and shows none of its callers, or no graph at all; by the
  rules of files that have the names of those recorded it shows false ones. Compared is what comes before the dump: the kernel's part;
- callers out of branches of the processor (LBR): perf shows the start of the innermost function; those are in test_callers.py;
- others.DIFFER: recordings for which perf takes names of the kernel that runs here.
"""
import collections
import os
import re
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import others  # noqa: E402
import perftext  # noqa: E402

EVERY = bool(os.environ.get('PACE_EVERY_GRAPH'))

# Stacks with what they cost: nothing is hidden, so what is one for pace and several for perf can be added up.
WHOLE = [(order, ['-s', 'comm', children, '-g', f'folded,0,{order},{value}', '--max-stack', depth])
         for order in ('caller', 'callee')
         for children in ('--no-children', '--children')
         for value in ('count', 'period')
         for depth in ('1023', '3', '8') if order == 'callee' or depth == '1023']
# What is drawn hides what is rare, so rows are compared that have the same stacks, none of them summed up by pace.
DRAWN = [(order, ['-s', keys, children], f'{kind},{limits},{order}')
         for keys in ('comm', 'cpu', 'sym')
         for children in ('--no-children', '--children')
         for order in ('caller', 'callee')
         for kind in ('graph', 'fractal')
         for limits in ('0', '0.5', '3', '10')]


def chosen(path, forms, few):
    """Always the same of them for a recording of that name."""
    order = sorted(forms, key=lambda form: zlib.crc32(f'{os.path.basename(path)} {form}'.encode()))
    return order if EVERY else order[:few]


def recordings():
    """Path and the properties of its events in words, of those that perf reads to the end."""
    for path in others.comparable():
        attrs = run('perf', 'evlist', '-v', '-f', '-i', path).out
        if 'CALLCHAIN' in attrs and 'branch_sample_type' not in attrs and \
                '# Samples' in run('perf', 'report', '--stdio', '-f', '-i', path).out:
            yield path, attrs


ADDRESS = re.compile('0x[0-9a-f]+|0+')


def is_kernels(address):
    return len(address.removeprefix('0x')) == 16 and address.removeprefix('0x')[0] == 'f'


def frame(text):
    """The name, or the end of the address; what perf sums up it calls inlined if the branch before was."""
    text = text.replace('[...] (inlined)', '[...]')
    return f'{int(text, 16) & 0xfff:03x}' if ADDRESS.fullmatch(text) else text


def uncovered(path):
    """Command -> the ends of addresses that are in no map, as perf says."""
    found, comm = {}, None
    for line in run('perf', 'script', '-f', '-i', path, '-F', 'comm,ip,sym,dso').out.split('\n'):
        match = re.match(r'\t\s*([0-9a-f]+) .*\((.*)\)$', line)
        if not match:
            comm = line.strip() or comm
        elif match[2] == '[unknown]':
            found.setdefault(comm, set()).add(int(match[1], 16))
    return found


def report(program, path, form):
    words = ['report', '--stdio', '-f', '-i', path, '-n', *form]
    result = run('perf', *words) if program == 'perf' else pace(*words, '--no-unnamed-functions', '--no-group')
    assert result.status == 0, result
    return result.out


def stacks(text, order):
    """For each event: row -> stack, innermost first -> what it cost."""
    events, stacks_of_row = [], None
    for line in text.split('\n'):
        stack = re.match(r'(\d+) (.*)$', line)
        if line.startswith('# Samples'):
            events.append({})
        elif stack:
            names = stack[2].split(';')
            stacks_of_row[tuple(names[::-1] if order == 'caller' else names)] += int(stack[1])
        elif line.strip() and line[0] != '#':
            stacks_of_row = events[-1].setdefault(re.sub(r'^ *([\d.]+% +)+', '', line.strip()), collections.Counter())
    return events


def summed(costs):
    found = collections.Counter()
    for stack, cost in costs:
        found[stack] += cost
    return found


def known_to_maps(stack, strangers):
    """How many frames from the innermost on: the kernel's, which has a map or not, and after them as far as addresses are no strangers."""
    n = next((n for n, name in enumerate(stack) if not is_kernels(name)), len(stack))
    n = next((i for i in range(max(n, 1), len(stack)) if ADDRESS.fullmatch(stack[i]) and int(stack[i], 16) in strangers), len(stack))
    return tuple(map(frame, stack[:n]))


def as_far_as_known(stack):
    return tuple(frame(name) for name in stack if not name.startswith('[truncated'))


def kernels_part(stack):
    """But for the innermost, the callers that a kernel's address stands before."""
    n = next((n for n, name in enumerate(stack) if not is_kernels(name)), len(stack))
    return tuple(map(frame, stack[1:n]))


def begun_as(x, y):
    """Of y, what begins as something in x, as that: to perf's stack, if there is one, pace adds what the dump says."""
    found = summed((next((stack[:n] for n in range(len(stack), -1, -1) if stack[:n] in x), None), cost) for stack, cost in y.items())
    del found[None]
    return found


def only_in_one(theirs, our, attrs, strangers):
    """What perf has of a row and pace has not, and what pace has, when the rules above have been applied; and how much is alike."""
    x = summed((known_to_maps(stack, strangers), cost) for stack, cost in theirs.items())
    y = summed((as_far_as_known(stack), cost) for stack, cost in our.items())
    if 'precise_ip' in attrs:
        # Sampled on one side of the kernel's border, interrupted on the other: then pace has the place of the interrupt as the caller.
        x = summed((stack[1:], cost) for stack, cost in x.items())
        missing = x - summed((as_far_as_known(stack)[1:], cost) for stack, cost in our.items())
        y = collections.Counter()
        for stack, cost in our.items():
            known = as_far_as_known(stack)
            if len(stack) > 1 and is_kernels(stack[0]) != is_kernels(stack[1]) and missing[known[2:]] >= cost:
                missing[known[2:]] -= cost
                known = known[1:]
            y[known[1:]] += cost
    if 'STACK_USER' in attrs:
        y = begun_as(x, y)
        if x != y:
            # Files of these names are here, and by their rules perf found callers.
            x, y = (summed((kernels_part(stack), cost) for stack, cost in costs.items()) for costs in (theirs, our))
    return x - y, y - x, sum((x & y).values())


def differing(path, attrs, order, form, strangers):
    """The first stacks that differ: event, row, what perf and what pace has; and how much is alike."""
    a, b = stacks(report('perf', path, form), order), stacks(report('pace', path, form), order)
    wrong, n = [], 0
    assert len(a) == len(b) and a, (path, form, len(a), len(b))
    for event, (theirs, our) in enumerate(zip(a, b)):
        assert theirs.keys() == our.keys(), (path, form, theirs.keys() ^ our.keys())
        for row in theirs:
            missing, added, alike = only_in_one(theirs[row], our[row], attrs, strangers.get(row.split(' ', 1)[1].strip(), ()))
            n += alike
            if missing or added:
                wrong.append((path, form, event, row, list(missing.items())[:3], list(added.items())[:3]))
    return wrong, n


@test
def stacks_are_those_of_perf():
    perf_works()
    wrong, n_alike = [], {}
    for path, attrs in recordings():
        strangers = uncovered(path)
        forms = [form for form in WHOLE if '1023' in form[1] or 'precise_ip' not in attrs]
        for order, form in chosen(path, forms, 2):
            found, alike = differing(path, attrs, order, form, strangers)
            n_alike[path] = max(n_alike.get(path, 0), alike)
            # perf names the recording's vdso, and files without a build-id, by those of this machine.
            if not found or not others.elsewhere(path):
                wrong += found
    assert not wrong, '\n'.join(map(str, wrong[:20]))
    assert len(n_alike) > 15 and sum(n > 0 for n in n_alike.values()) > 12, n_alike


def row_name(cells):
    """The row as both have it: what is no share, of addresses the end."""
    return tuple(frame(word) for cell in cells if not cell.endswith('%') for word in cell.split())


def nodes_of(stacks_):
    return {stack[:n] for stack in stacks_ for n in range(1, len(stack) + 1)}


def trees(rows, order):
    """Row -> its stacks from the root on; of rows that no other is called like, and whose nodes all have names of their own."""
    names = [row_name(re.split('  +', row)) for row in rows]
    found = {}
    for name, row in zip(names, rows.values()):
        whole = [stack[::-1] if order == 'caller' else stack for stack in row]
        ends = [tuple(map(frame, stack)) for stack in whole]
        if len(nodes_of(ends)) == len(nodes_of(whole)):
            found[name] = sorted(ends)
    return {name: found[name] for name, n in collections.Counter(names).items() if n == 1 and name in found}


def rows_with_the_same_stacks(path, order, keys):
    """Event and row."""
    both = (stacks(report(program, path, [*keys, '-g', f'folded,0,{order},count', '--max-stack', '1023']), order) for program in ('perf', 'pace'))
    found = set()
    for event, (theirs, ours) in enumerate(zip(*both)):
        theirs, ours = trees(theirs, order), trees(ours, order)
        found |= {(event, name) for name, tree in theirs.items() if tree and tree == ours.get(name)}
    return found


@test
def graphs_are_drawn_as_by_perf():
    perf_works()
    wrong, n, n_nodes = [], 0, 0
    for path, _ in recordings():
        for order, keys, drawing in chosen(path, DRAWN, 2):
            same = rows_with_the_same_stacks(path, order, keys)
            graphs = []
            for program in ('perf', 'pace'):
                events = perftext.parse(report(program, path, [*keys, '-g', drawing, '--max-stack', '1023']))
                graphs.append({(event, row_name(row.cells)): {tuple(map(frame, path_)): share for path_, share in row.graph.items()}
                               for event, (_, rows) in enumerate(events) for row in rows})
            for row in same:
                n += 1
                theirs, ours = (graph[row] for graph in graphs)
                n_nodes += len(theirs)
                if theirs != ours:
                    wrong.append((path, keys, drawing, row, sorted(theirs.items() - ours.items(), key=str)[:3],
                                  sorted(ours.items() - theirs.items(), key=str)[:3]))
    assert not wrong, f'{len(wrong)} of {n} rows\n' + '\n'.join(map(str, wrong[:20]))
    assert n > 100 and n_nodes > 1000, (n, n_nodes)
    print(f'# {n} rows, {n_nodes} nodes')


@test
def an_event_without_chains_shows_those_of_another_one():
    """perf prints them with --children only, and those of the sample before: on a program with one stack both have the same."""
    can_record()
    perf_works()
    with open('one.c', 'w', encoding='utf-8') as file:
        file.write('volatile long x;\n__attribute__((noinline)) void leaf(void) { for (long i = 0; i < 200000000; i++) x += i; }\n'
                   '__attribute__((noinline)) void root(void) { leaf(); x++; }\nint main(void) { root(); return 0; }\n')
    program = build_c(os.path.abspath('one.c'), 'one')
    done = pace('record', '-q', '-g', '-e', 'cpu-clock:u', '-e', 'task-clock/call-graph=no/u', '-o', 'two.data', program)
    assert done.status == 0, done
    words = ['report', '--stdio', '-s', 'sym', '-g', 'none', '-F', 'overhead_children,overhead,sym', '--children', '-i', 'two.data']
    for more in ([], ['--show-ref-call-graph']):
        shares = []
        for tool in (PACE, 'perf'):
            text = run(tool, *words, *more).out
            rows = re.findall(r'^ +(\d+\.\d+)% +(\d+\.\d+)% +\[\.\] (leaf|root|main)\s*$', text[text.rindex('# Samples: '):], re.M)
            shares.append({name: (float(total), float(own)) for total, own, name in rows})
        ours, theirs = shares
        assert set(ours) == ({'leaf', 'root', 'main'} if more else {'leaf'}), (more, ours)
        # Samples before the first one with a chain have none in perf, which without the option sums them up, too.
        assert not more or set(ours) == set(theirs) and all(abs(ours[name][i] - theirs[name][i]) < 3 for name in ours for i in (0, 1)), (more, ours, theirs)
    folded = pace('report', '--show-ref-call-graph', '--format', 'folded', '-i', 'two.data')
    # A column for each event.
    assert re.search(r'main;root;leaf [1-9]\d* [1-9]\d*$', folded.out, re.M) and "that 'cpu-clock:u' has" in folded.err, folded


if __name__ == '__main__':
    main()
