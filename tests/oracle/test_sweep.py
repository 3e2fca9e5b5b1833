#!/usr/bin/env python3
"""Over three hundred ways to call report, annotate, diff and report --mem-mode (c2c: test_c2c), each beside perf on the same recording: rows and numbers, or graphs as they
are drawn. What is expected to differ, and why:
- functions that only pace names (procedure linkage tables) are in no row here, and shares are not compared beside them;
- functions that return to the first byte behind the caller are called by the next function in perf: the program here does not;
- perf fills columns up with blanks, also with -t; it leaves out columns that a filter makes equal (-d with one file, -S with one function),
  and -n where -F names the columns: pace shows what was asked for;
- annotate --percent-type global-period, which perf's text shows as shares of the function, like local-period;
- report -g address, which in perf tells calls from different lines apart; in pace nodes are functions."""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402
from calls import cells, program, recording  # noqa: E402

KEYS = ['comm', 'pid', 'dso', 'sym', 'cpu', 'socket', 'addr', 'srcfile', 'srcline', 'time', 'local_weight', 'weight',
        'comm,dso', 'dso,sym', 'sym,dso', 'pid,sym', 'cpu,sym', 'comm,dso,sym', 'comm,pid,cpu', '+cpu', '+pid,cpu', 'time,sym', 'addr,sym']
FILTERS = [['-C', '0'], ['-C', '0-1'], ['--comms', 'calls,nowhere'], ['-d', 'calls,nowhere'], ['-S', 'leaf,mid_b'], ['--time', '10%-50%'],
           ['--time', '20%/3'], ['--percentage', 'relative', '-S', 'leaf,outer'], ['--percentage', 'absolute', '-S', 'leaf,outer'], ['--percent-limit', '5'],
           ['-F', '+cpu'], ['-F', 'sample,sym'], ['-F', 'overhead,sample,period,sym'], ['-F', 'overhead,overhead_sys,overhead_us,sym'], ['--ns'],
           ['--time-quantum', '10ms'], ['--show-total-period'], ['--show-cpu-utilization'], ['--socket-filter', '0'], ['-U'], ['-m'],
           ['--no-demangle'], ['--full-source-path'], ['-w', '0'], ['--samples', '3']]
GRAPHS = [f'{style},{limit}{order}' for style in ('graph', 'fractal', 'flat', 'folded') for limit in ('0', '0.5', '0.5,1', '0.5,2', '0.5,3', '10')
          for order in (',caller', ',callee')] + ['graph,0.5,caller,function', 'graph,0.5,callee,function,branch',
                                                  'folded,0,caller,count', 'folded,0,callee,period', 'none']


def rows(result):
    """Each row's cells -> how often it is there."""
    assert result.status == 0, result
    return collections.Counter(cells(line) for line in result.out.split('\n') if line.strip() and not line.startswith('#') and '@plt' not in line)


def both(command, *words):
    ours = pace(command, *words) if command != 'report' else pace(command, '--no-unnamed-functions', *words)
    return ours, run('perf', command, *words, *(['--stdio', '-f'] if command in ('report', 'annotate') else []))


@test
def rows_of_every_key_and_filter():
    recording()
    wrong, n = [], 0
    cases = [(keys, options) for keys in KEYS for options in ([], ['--no-children'])] + \
        [(keys, options) for keys in ('comm,dso,sym', 'sym') for options in FILTERS]
    for keys, options in cases:
        for path in ('c.data', 'd.data') if not options else ('d.data',):
            # The callers of a place have no place of their own: pace shows only what was sampled there.
            if path == 'c.data' and re.search('addr|srcfile|srcline|time', keys):
                continue
            words = ['-i', path, *([] if options and options[0] == '-F' else ['-n']), '-t', '|', '-g', 'none', '-s', keys, *options]
            words = [word for i, word in enumerate(words) if not (path == 'd.data' and (word in ('-g', 'none')))]
            ours, theirs = map(rows, both('report', *words))
            n += 1
            if ours != theirs or not (ours or '-C' in words):
                wrong.append((words, list((ours - theirs).items())[:3], list((theirs - ours).items())[:3]))
    assert not wrong, f'{len(wrong)} of {n}\n' + '\n'.join(map(str, wrong))
    assert n > 80, n
    print(f'# {n} combinations')


@test
def graphs_of_every_form():
    recording()
    wrong, n = [], 0
    for how in GRAPHS:
        for children in ('--children', '--no-children'):
            for keys in ('sym', 'comm'):
                words = ['-i', 'c.data', '-s', keys, children, '-g', how, '-S', 'leaf,mid_a,mid_b,outer,rare,begin']
                graphs = [[line.rstrip().replace('[...] (inlined)', '[...]') for line in result.out.split('\n') if line.strip() and not line.startswith('#')]
                          for result in both('report', *words)]
                n += 1
                # Equal rows and branches are in no order: the last one has another line before it.
                plain = [sorted(filter(None, (line.replace('|', ' ').rstrip() for line in graph))) for graph in graphs]
                if plain[0] != plain[1]:
                    wrong.append((words, [line for line in graphs[0] if line not in graphs[1]][:5], [line for line in graphs[1] if line not in graphs[0]][:5]))
    assert not wrong, f'{len(wrong)} of {n}\n' + '\n'.join(map(str, wrong))
    print(f'# {n} combinations')


@test
def code_of_functions():
    recording()

    def figures(result):
        found = re.findall(r'^ +([\d.]+) [^:\n]*: +([0-9a-f]+):', result.out, re.M)
        return {address: float(figure) for figure, address in found if float(figure)}
    for name in ('leaf', 'mid_b'):
        for options in ([], ['-n'], ['--show-total-period'], ['--percent-type', 'local-hits'], ['-C', '0-1'], ['-d', 'calls']):
            ours, theirs = map(figures, both('annotate', '-i', 'd.data', *options, name))
            assert ours and ours == theirs, (name, options, ours, theirs)


@test
def differences_of_recordings():
    recording()
    program(90, 'calls')
    assert run('perf', 'record', '-q', '--sample-cpu', '-e', 'cpu-clock:u', '-F', '3000', '-o', 'e.data', './calls').status == 0

    def figures(result):
        return {name: numbers.split() for numbers, name in re.findall(r'^ +([\d.+% -]+?) +(?:calls +)?\[\.\] (leaf|mid_a|mid_b|outer|rare)\b', result.out, re.M)}
    for options in ([], ['-c', 'delta'], ['-c', 'delta-abs'], ['-c', 'ratio'], ['-c', 'wdiff:1,2'], ['-s', 'sym'], ['-S', 'leaf,mid_b'], ['--time', '0%-50%'],
                    ['--percentage', 'absolute', '-S', 'leaf,mid_b'], ['-d', 'calls,nowhere']):
        ours, theirs = (figures(run(*program_, 'diff', *options, 'd.data', 'e.data')) for program_ in ([PACE], ['perf']))
        assert len(theirs) > 0 and all(ours.get(name, [])[:len(numbers)] == numbers for name, numbers in theirs.items()), (options, ours, theirs)


def samples(table):
    """Samples by cells: perf has a row for each function, whatever the keys, and an empty column for instructions per cycle."""
    found = collections.Counter()
    for (_, n, *rest), times in table.items():
        found[tuple(cell for cell in rest if cell != '- -')] += int(n) * times
    return found


@test
def memory_accesses_of_every_key():
    perf_works()
    fields = handmade.IP | handmade.TID | handmade.TIME | handmade.ADDR | handmade.CPU | handmade.PERIOD | handmade.DATA_SRC | handmade.PHYS_ADDR | \
        handmade.DATA_PAGE_SIZE | handmade.WEIGHT_STRUCT
    handmade.write('m.data', fields, [
        dict(ip=0x401000 + 8 * (i % 3), addr=0x600000 + 16 * (i % 5), weight=(30 + i % 4, 5, 7), phys=0x1000 + i % 7, data_page=4096,
             data_src=handmade.data_src(op=(2, 4)[i % 2], level=(0x0a, 0x22)[i // 2 % 2], snoop=(2, 4, 16)[i % 3], lock=(2, 4)[i // 4 % 2], tlb=(0x0a, 0x12)[i // 8 % 2]))
        for i in range(60)])
    n = 0
    for keys in ('mem', 'snoop', 'tlb', 'locked', 'blocked', 'local_weight', 'weight', 'symbol_daddr', 'dso_daddr', 'dcacheline', 'phys_daddr', 'data_page_size',
                 'mem,snoop', 'snoop,locked', 'local_weight,mem', 'sym,mem', 'mem,sym,symbol_daddr', 'local_ins_lat', 'dso_daddr,tlb'):
        words = ['-i', 'm.data', '--mem-mode', '-n', '-t', '|', '-s', keys]
        ours, theirs = map(samples, map(rows, both('report', *words)))
        n += 1
        assert ours and ours == theirs, (keys, ours - theirs, theirs - ours)
    assert n > 15


if __name__ == '__main__':
    main()
