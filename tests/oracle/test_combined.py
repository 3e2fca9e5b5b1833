#!/usr/bin/env python3
"""Two and three options at once, of script, report, annotate, diff and stat: each call beside perf's on the same recording, ours and those
of others. What is expected to differ, and why, stands with the options in perf_options.tsv; of those only what both have in common is here:
- script -F of a field that no sample has, which ends perf; --switch-off without --switch-on, after which perf goes on; -d, under which perf
  prints no samples; --show-round-events, for which perf gives up the order of time;
- lines of callers (-F srcline), for which perf takes the line that the call returns to, and pace that of the call;
- report -d and -S with one name, and -c with one, for which perf drops the column;
- stat: sentences of perf about -D and --timeout, what pace's text says beyond perf's, and intervals in which the command did not run."""
import collections
import concurrent.futures
import itertools
import os
import random
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import calls as shared  # noqa: E402
from others import BRANCHES, comparable  # noqa: E402

def some(n, *lists):
    """n combinations of one word list out of each: the same ones each time."""
    return random.Random(20).sample(list(itertools.product(*lists)), n)


def each_in_turn(paths, ways):
    """Two of the ways for each file."""
    turn = itertools.cycle(ways)
    return [(path, words_of(*next(turn))) for path in paths for _ in range(2)]


def words_of(*parts):
    return [word for part in parts for word in part.split()]


def sweep(calls, tools, part, is_of_others=False):
    """Calls both tools and compares what `part` makes of each result; prints how many calls there were. What perf cannot read of others'
    recordings is left out."""
    def both(words):
        with_perf, with_pace = (run(*tool, *words) for tool in tools)
        check_sane(with_pace)
        ours, theirs = part(with_pace), part(with_perf)
        return words, ours, theirs, with_pace
    wrong, n_empty, n_unread = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for words, ours, theirs, result in pool.map(both, calls):
            if is_of_others and not theirs:
                n_unread += 1
                continue
            n_empty += not ours
            if ours != theirs:
                ours, theirs = (collections.Counter(lines) for lines in (ours, theirs))
                wrong.append((' '.join(words), 'ours', list((ours - theirs).items())[:3], 'perf', list((theirs - ours).items())[:3], result.err[-200:]))
    assert not wrong, f'{len(wrong)} of {len(calls)}\n' + '\n'.join(map(str, wrong))
    assert n_empty < len(calls) / 4, (n_empty, len(calls))
    print(f'# {len(calls) - n_unread} combinations')


AS_PERF = (('perf',), (PACE, '--as-perf'))


def lines(result):
    """Those of the text; the tools need not fail with the same status."""
    return [line.rstrip() for line in result.out.split('\n') if line.strip()]


def recordings():
    shared.recording()
    events = '{cpu-clock:u,task-clock:u}'
    assert run('perf', 'record', '-q', '--sample-cpu', '-d', '-e', events, '-F', '500', '-o', 'g.data', './calls').status == 0


FIELDS = ['', '-F comm,tid,pid,time,event', '-F ip,sym,dso', '-F +period,-cpu', '-F comm,ip,sym,symoff', '-F event,time,cpu,period', '-F +misc', '-F -comm,-tid',
          '-F +flags,+synth', '-F sw:comm,ip,sym', '-F tid,time,ip -F +sym', '-F +callindent', '-F comm,time,ip,sym,dso,symoff,period', '-F +insn,+insnlen', '-F sw:-period']
TIMES = ['', '--ns', '--reltime', '--deltatime', '--reltime --ns', '--deltatime --ns', '-L', '-G', '--show-task-events', '--show-mmap-events --show-task-events',
         '--show-lost-events --show-bpf-events', '--max-stack 2', '--stop-bt outer', '--stop-bt mid_a,mid_b', '--no-inline', '--no-demangle', '--full-source-path',
         '-I --header', '--insn-trace', '--call-trace', '--call-ret-trace', '--itrace=i1us', '--no-itrace', '-f']
CHOSEN = ['', '-C 0-1', '-c calls', '-c calls,nowhere', '-S leaf', '-S leaf,mid_b', '-S 0x401000 --addr-range 64', '--dsos calls', '--time 10%-50%', '--time 10%/2',
          '--time 0%-20%,60%-80%', '--time ,1e9', '--switch-on cpu-clock:u', '--switch-on cpu-clock:u --show-on-off-events', '--pid 1', '--kallsyms /proc/kallsyms']


# perf counts --reltime and --deltatime before it chooses by --time, and so finds nothing.
OF_TIME = re.compile(r'--(rel|delta)time.* --time ')


@test
def texts_of_script():
    recordings()
    calls = [['script', '-i', path, *words_of(*parts)] for path, n in (('c.data', 60), ('d.data', 30), ('g.data', 30))
             for parts in some(n, FIELDS, TIMES, CHOSEN)]
    sweep([words for words in calls if not OF_TIME.search(' '.join(words))], AS_PERF, lines)


@test
def texts_of_others_recordings():
    """Without names: those are in the tests of fixtures."""
    perf_works()
    # Of a recording from a pipe perf prints call chains whatever -F says.
    paths = [path for path in comparable(True) if not BRANCHES.search(path) and os.path.getsize(path) < 300000 and 'pipe' not in path]
    ways = some(13, ['-F comm,tid,time', '-F pid,tid,time,period', '-F tid,time,period'], ['', '--ns', '--reltime', '--deltatime', '-G', '-L'],
                ['', '--time 10%-60%', '--time 20%/2', '--no-inline', '-f'])
    calls = [['script', '-f', '-i', path, *words] for path, words in each_in_turn(paths, ways)]
    sweep([words for words in calls if not OF_TIME.search(' '.join(words))], AS_PERF, lines, True)


def cells(result):
    """The rows in which pace and perf name the same code."""
    return sorted('|'.join(shared.cells(line)) for line in result.out.split('\n') if line.strip() and not line.startswith('#'))


@test
def rows_of_report():
    recordings()
    keys = ['-s sym', '-s comm,dso,sym', '-s pid,sym', '-s dso,sym', '-s cpu,sym', '-s comm,pid', '-s +cpu', '-F overhead,sample,sym', '-F overhead,period,dso,sym', '-F +pid']
    filters = ['', '-C 0-1', '--comms calls,nowhere', '-d calls,nowhere', '-S leaf,mid_b', '--time 10%-50%', '--time 10%/2,10%/4', '--percent-limit 40', '-U', '--socket-filter 0']
    shows = ['', '-w 0', '--percentage relative', '--no-demangle', '--ns', '--header', '-m', '--show-cpu-utilization', '--group', '--no-group', '--full-source-path', '-f --no-itrace']
    calls = [['report', '--stdio', '-t', '|', '-i', 'd.data', *words_of(*parts)] for parts in some(60, keys, filters, shows)]
    calls += [['report', '--stdio', '-t', '|', '-i', 'c.data', '-g', 'none', *words_of(*parts)]
              for parts in some(40, keys, filters, shows + ['--no-children', '--children', '-G', '--no-inline'])]
    sweep(calls, AS_PERF, cells)


GROUPS = re.compile('group_desc|lost_samples|group-read|be-group')


@test
def rows_of_others_recordings():
    perf_works()
    # Groups of events: perf has several figures in a cell, pace a table for each event.
    paths = [path for path in comparable(True) if not BRANCHES.search(path) and os.path.getsize(path) < 300000 and not GROUPS.search(path)]
    # perf cuts names where columns are narrow: not with -w 0.
    ways = some(7, ['-s comm', '-s pid', '-s comm,dso', '-s pid,dso', '-s dso'], ['-n', '--show-total-period', '-n --percent-limit 2'],
                ['-w 0', '-w 0 --time 10%-60%', '-w 0 --percentage relative', '-w 0 --no-children'])
    # perf refuses -g where there are no call chains.
    has_chains = {path: '|CALLCHAIN' in pace('evlist', '-v', '-i', path).out for path in paths}
    calls = [['report', '--stdio', '-f', *['-g', 'none'] * has_chains[path], '-t', '|', '-i', path, *words] for path, words in each_in_turn(paths, ways)]
    sweep(calls, AS_PERF, cells, True)


def code(result):
    """Figures and instructions by address; operands have other signs in LLVM's and objdump's text."""
    found = re.findall(r'^ +([\d.]+) [^:\n]*: +([0-9a-f]+):[ |v^<>+,.`\'-]*((?:[0-9a-f]{2} )*)', result.out, re.M)
    return sorted(f'{address} {float(figure):g} {of.strip()}' for figure, address, of in found if float(figure))


@test
def code_of_annotate():
    recordings()
    figures = ['', '-n', '--show-total-period', '--percent-type local-hits', '--percent-type local-period']
    shows = ['', '--asm-raw', '--no-source', '-P', '-M intel', '--no-demangle', '-l --no-source', '--prefix /x --prefix-strip 1', '--skip-missing', '--objdump objdump', '-q',
             '--asm-raw --no-source', '--stdio-color never', '-f --no-itrace']
    filters = ['', '-C 0-1', '-d calls', '--percent-limit 1']
    sweep([['annotate', '--stdio', '-i', path, *words_of(*parts), name] for path, name, n in (('d.data', 'leaf', 14), ('d.data', 'mid_b', 14), ('g.data', 'leaf', 8))
           for parts in some(n, figures, shows, filters)], AS_PERF, code)


@test
def figures_of_diff():
    recordings()
    shared.program(90, 'calls')
    for path in ('e.data', 'f.data'):
        assert run('perf', 'record', '-q', '--sample-cpu', '-e', 'cpu-clock:u', '-F', '3000', '-o', path, './calls').status == 0
    ways = ['', '-c delta', '-c delta-abs', '-c ratio', '-c wdiff:1,2', '-c wdiff:3,2']
    shows = ['', '-p', '-F', '-p -F', '-q', '-o 1', '-b', '-m', '-s sym', '-s dso,sym', '-s sym,dso -p', '-o 0']
    filters = ['', '--time 0%-50%', '--time 20%-100%', '--percentage relative -S leaf,mid_b', '--percentage absolute -S leaf,mid_b', '-d calls,nowhere', '-C calls,nowhere', '--cpu 0-1']

    def rows(result):
        found = re.findall(r'^ +(\S.*?) +(?:calls +)?\[\.\] (leaf|mid_b)\b', result.out, re.M)
        return sorted(f'{name} {re.sub(r" +", " ", figures)}' for figures, name in found)
    sweep([['diff', *words_of(*parts), 'd.data', *files] for parts, files in
           zip(some(40, ways, shows, filters), itertools.cycle([['e.data'], ['e.data', 'f.data']]))], AS_PERF, rows)


# What pace says beyond perf, and perf about what it does.
BESIDE = re.compile(r'waiting for a CPU|maximum resident|seconds (user|sys)|context switches, n of them|this machine has no such hardware counter|'
                    r'^Events (en|dis)abled|^timeout <|: Terminated$')


WORK = 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done\n'


def form(result):
    """The shape of what stat says; not what pace says beyond perf, and what perf says meanwhile."""
    # Digits and deviations of repeated runs depend on how far these differ.
    text = re.sub(r'[KMG]?/sec', '/sec', shared.shape(result.err))
    text = re.sub(r'x\.d+ \+- x\.d+ seconds', 'x +- x seconds', re.sub(r' *\( \+- *x\.dd% \)', '', text))
    return [re.sub(r'\s+', ' ', line).strip() for line in text.split('\n') if line.strip() and not BESIDE.search(line)]


@test
def forms_of_stat():
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    shows = ['', '-r 2', '--no-big-num', '--all-user', '-i', '--pre true', '--post true -r 2', '--scale', '--no-merge', '--log-fd 2', '--all-kernel -r 2', '-S -i', '--quiet',
             '--summary', '--no-csv-summary --summary', '--hybrid-merge', '-r 3 --no-merge']
    events = ['-e task-clock', '-e page-faults,task-clock', '-e task-clock:u,cycles', '-e dummy,task-clock', '-e {page-faults,task-clock}']
    calls = [['stat', *words_of(*parts), 'sh', 'work.sh'] for parts in some(36, ['', '-x,', '-j', '-x;'], shows, events)]
    if not os.geteuid():
        places = ['', '-A', '--per-core', '--per-socket', '--per-die', '--per-node', '--for-each-cgroup /', '-A --no-merge']
        calls += [['stat', '-a', *words_of(*parts), 'sleep', '0.1']
                  for parts in some(36, ['', '-x,', '-j'], places, ['', '-r 2', '-I 60 --interval-count 1', '-D 5', '--timeout 120', '--summary'], ['-e cpu-clock', '-e cpu-clock,cycles'])]
    sweep(calls, AS_PERF, form)


if __name__ == '__main__':
    main()
