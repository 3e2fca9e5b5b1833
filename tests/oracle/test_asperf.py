#!/usr/bin/env python3
"""pace in perf's place: called by the name `perf`, it answers what callers parse as the installed perf does."""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from harness import *  # noqa: E402,F403
sys.path.insert(1, os.path.join(TOP, 'tests', 'replay'))
from replay import machine  # noqa: E402
sys.path.insert(2, os.path.dirname(os.path.abspath(__file__)))
from calls import shape  # noqa: E402
import handmade  # noqa: E402

WORK = 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done\n'
LINK = 'link/perf'


def link():
    os.makedirs('link', exist_ok=True)
    if not os.path.lexists(LINK):
        os.symlink(PACE, LINK)
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    return os.path.abspath(LINK)


# What runs a command, and what looks at the whole system for a moment.
PROGRAM = (['-x,', '-e', 'task-clock,page-faults,cycles'], ['-x;', '-e', 'task-clock:u'], ['-j', '-e', 'task-clock,page-faults,cycles'],
           ['-x,', '-r', '3', '-e', 'task-clock,page-faults,cycles'], ['-j', '-r', '2', '-e', 'task-clock,page-faults'])
SYSTEM = ('-a -A -x, -e cpu-clock', '-a --per-core -x, -e cpu-clock,cycles', '-a --per-socket -x; -e cpu-clock', '-a --per-die -x, -e cpu-clock',
          '-a -A -j -e cpu-clock', '-a --per-node -j -e cpu-clock', '-a --per-core -j -e cpu-clock', '-a -x, -e cpu-clock -G / -e page-faults -G /',
          '-a -j -e cpu-clock -G /', '-a -x, --summary -I 120 -e cpu-clock', '-a -x, --no-csv-summary --summary -I 120 -e cpu-clock',
          '-a -j -I 120 -e cpu-clock', '-x\\t -a -e cpu-clock', '-a -x, --summary -e cpu-clock')


@test
def counts_have_perfs_columns_and_members():
    perf_works()
    path = link()
    for words in PROGRAM:
        ours, theirs = (shape(run(tool, 'stat', *words, 'sh', 'work.sh').err) for tool in (path, 'perf'))
        assert ours == theirs and len(ours) > 30, (words, ours, theirs)
    needs_root()
    for words in SYSTEM:
        ours, theirs = (shape(run(tool, 'stat', *words.split(), 'sleep', '0.2').err) for tool in (path, 'perf'))
        # Units grow with the values.
        ours, theirs = (re.sub(r'[KM]?/sec', '/sec', text) for text in (ours, theirs))
        assert ours == theirs and len(ours) > 30, (words, ours, theirs)


@test
def further_metrics_are_rows_of_their_own():
    """Counts are scripted: both tools see the same ones."""
    counts = {'cycles': 2_000_000, 'instructions': 1_000_000, 'stalled-cycles-frontend': 600_000, 'branches': 1000, 'branch-misses': 200}
    events = 'cycles,instructions,stalled-cycles-frontend,branches,branch-misses'
    path = link()
    for words in (['-x,'], ['-x,', '-a', '--per-socket'], ['-x,', '-a', '-A'], ['-j'], ['-j', '-a', '-A']):
        with machine('zen4', counts) as on:
            ours = on.pace('--as-perf', 'stat', *words, '-e', events, 'sleep', '0.01').err
            theirs = on.perf('stat', *words, '-e', events, 'sleep', '0.01').err
        # How long they ran differs from run to run, by the clock of the replay. perf 6.1 writes units without values where there is no time.
        ours, theirs = (re.sub(r'(?<=[,:] )\d{7,9}(?=, "pcnt)|(?<=,)\d{7,9}(?=,100)', 'TIME', text) for text in (ours, theirs))
        ours, theirs = (re.sub(r'(?<=TIME,)(99|10\d)\.\d\d', '100.00', text) for text in (ours, theirs))
        theirs = re.sub(r'"metric-unit" : "(Ghz|\(null\))"', '"metric-unit" : ""', theirs)
        assert sorted(ours.splitlines()) == sorted(theirs.splitlines()) and '0.6' in ours, (words, ours, theirs)
        if '-A' not in words:
            assert ours == theirs, (words, ours, theirs)


# Metrics are those of tables, and perf 7.2 lists what it counts itself under other names.
OF_PERF_LIST = re.compile(r'^  \S.* \[(?!Tool|SDT)[^]]*\]$')


@test
def events_stand_in_perfs_lines():
    """Callers grep them."""
    perf_works()
    path = link()

    def lines(result):
        assert result.status == 0, result
        return {line for line in result.out.split('\n') if OF_PERF_LIST.match(line)}
    for words in ([], ['sw'], ['sched:*switch*'], ['tracepoint'], ['pmu']):
        ours, theirs = (lines(run(tool, 'list', *words)) for tool in (path, 'perf'))
        assert ours == theirs and (ours or not theirs), (words, ours ^ theirs)
    with machine('zen4', {}, is_strict=False) as on:
        ours, theirs = (lines(on.run(*tool, 'list')) for tool in ((path,), ('perf',)))
    # One event of perf's own tables stands there, too.
    ours, theirs = ({line for line in found if ('Hardware event]' in line or 'cpu/' in line) and '.' not in line} for found in (ours, theirs))
    assert len(ours) > 12 and ours == theirs, ours ^ theirs
    # Nothing is found: that is no error.
    result = run(path, 'list', 'no_such_event')
    assert result.status == 0 and not result.out and not result.err, result
    assert run(path, 'list', '--columns=pace', 'no_such_event').status == 1
    assert run(path, 'list', 'metric').out.startswith('\nMetrics:\n\n  ')


@test
def the_mode_is_chosen_by_name_option_or_environment():
    path = link()
    plain = pace('version').out
    assert re.fullmatch(r'pace \S+\n', plain), plain
    as_perf = f'perf version 6.1.0 ({plain.strip()})\n'
    for words, env, out in (([path, 'version'], {}, as_perf), ([path, '--version'], {}, as_perf), ([PACE, '--as-perf', 'version'], {}, as_perf),
                            ([PACE, 'version'], {'PACE_AS_PERF': '1'}, as_perf), ([path, 'version'], {'PACE_AS_PERF': '0'}, plain),
                            ([PACE, 'version'], {'PACE_AS_PERF': ''}, plain)):
        result = run(*words, env=dict(os.environ, **env))
        assert result.out == out and result.status == 0, (words, env, result)
    result = run(path, 'version', '--build-options')
    assert re.search(r'^ +dwarf: \[ on  \]  # HAVE_DWARF_SUPPORT$', result.out, re.M), result
    commands = run(path, '--list-cmds').out.split()
    assert {'record', 'report', 'script', 'stat', 'annotate', 'diff'} <= set(commands), commands
    assert pace('--list-cmds').status == 2


@test
def messages_of_record_are_perfs():
    can_record()
    perf_works()
    path = link()
    ours, theirs = (shape(run(tool, 'record', '-e', 'cpu-clock', '-o', 'r.data', 'sh', 'work.sh').err) for tool in (path, 'perf'))
    assert ours == theirs and ours.startswith('[ perf record: Woken up n times'), (ours, theirs)
    result = run(path, 'record', '-e', 'no-such-event', 'true')
    assert result.status and result.err.startswith('perf record: '), result


@test
def notes_are_left_out_and_come_back_with_v():
    can_record()
    path = link()
    assert pace('record', '-q', '-g', '-e', 'cpu-clock', '-o', 'n.data', 'sh', 'work.sh').status == 0
    words = ('report', '-i', 'n.data', '--stdio', '--symbols', 'no_such_function')
    plain, mode, verbose = (run(tool, *words, *more).err for tool, more in ((PACE, []), (path, []), (path, ['-v'])))
    assert 'note: no sampled function' in plain and 'note: no sampled function' in verbose and 'note: ' not in mode, (plain, mode, verbose)


@test
def what_the_mode_adds_can_be_taken_back_and_works_without_it():
    path = link()
    result = run(path, 'stat', '--columns', 'pace', '-j', '-e', 'task-clock', 'true')
    assert json.loads(result.err.splitlines()[0])['kind'] == 'count', result
    result = pace('stat', '--columns', 'perf', '-j', '-e', 'task-clock', 'true')
    assert 'counter-value' in json.loads(result.err.splitlines()[0]), result
    result = pace('stat', '--columns', 'both', '-j', 'true')
    assert result.status == 2 and 'perf7 or pace' in result.err, result
    # Options of configuration files stand beside those of the mode, also where the command has a subcommand.
    with open('config', 'w', encoding='utf-8') as file:
        file.write('[stat]\nbig-num = false\n')
    assert run(path, 'stat', 'record', '-o', 's.data', '-e', 'task-clock', 'true').status == 0
    result = run(path, 'stat', 'report', '-x,', '-i', 's.data', env=dict(os.environ, PERF_CONFIG='config'))
    row = r'[\d.]+,msec,task-clock,\d+,100\.00,[\d.]+,CPUs utilized\n'
    assert re.fullmatch(row, result.err) and not result.out, result
    # perf takes -x before the word only.
    for words in (['-x,', 'report', '-i', 's.data'], ['report', '-x,', '-i', 's.data'], ['-x', ',', 'report', '-i', 's.data']):
        result = run(path, 'stat', *words)
        assert re.fullmatch(row, result.err) and not result.out, (words, result)
        result = run(PACE, 'stat', *words)
        assert result.out.startswith('place,') or 'task-clock' in result.out and not result.err, (words, result)
    if shutil.which('perf'):
        theirs = run('perf', 'stat', '-x,', 'report', '-i', 's.data')
        assert re.fullmatch(row, theirs.err) and not theirs.out, theirs
    # Text for people has no columns of either kind.
    ours, mode = (shape(run(tool, 'stat', '-e', 'task-clock', 'true').err) for tool in (PACE, path))
    assert ours == mode, (ours, mode)


INLINED = '''volatile long x;
static inline __attribute__((always_inline)) void work(int n) { for (int i = 0; i < n; i++) x += i * i; }
static inline __attribute__((always_inline)) void twice(int n) { work(n); x--; }
__attribute__((noinline)) void far(int n) { for (int i = 0; i < n; i++) x += i; }
static inline __attribute__((always_inline)) void call(int n) { far(n); x--; }
__attribute__((noinline)) void outer(int n) { twice(n); call(n); x++; }
int main(void) { for (int i = 0; i < 200; i++) outer(100000); return 0; }
'''


@test
def call_chains_are_perfs():
    """Of frame pointers and of copied stacks, with inlined functions, by default and with lines; only a call that does not return, behind
    which another function begins, has another name: perf names that one."""
    can_record()
    perf_works()
    path = link()
    with open('inlined.c', 'w', encoding='utf-8') as file:
        file.write(INLINED)
    build_c(os.path.abspath('inlined.c'), 'inlined')
    for way in ('fp', 'dwarf'):
        name = f'{way}.data'
        assert run('perf', 'record', '-q', '-e', 'cpu-clock', '--call-graph', way, '-o', name, './inlined').status == 0
        for words in ([], ['--no-inline'], ['-F', '+srcline'], ['-F', 'comm,tid,time,event,ip,sym,dso'], ['-G'], ['--header']):
            ours, theirs = (run(tool, 'script', '-f', '-i', name, *words).out.splitlines() for tool in (path, 'perf'))
            if '+srcline' in words:
                # perf names the line after a call if frame pointers lead there, and gets files of inlined functions of libraries wrong.
                ours, theirs = ([line for line in text if way == 'dwarf' and ' inlined.c:' in line] for text in (ours, theirs))
                assert ours == theirs and bool(ours) == (way == 'dwarf'), (ours[:3], theirs[:3])
                continue
            # perf 6.1 has no name for some entries of the PLT, which stand at the same addresses.
            ours = [line.replace(plt[0], '[unknown]') if '[unknown]' in their and (plt := re.search(r'\w+@plt\+0x[0-9a-f]+', line)) else line
                    for line, their in zip(ours, theirs)] + ours[len(theirs):]
            lines = [pair for pair in zip(ours, theirs) if pair[0] != pair[1] and not re.search(r' _dl_start_user', pair[1]) and pair[1][:1] != '#']
            assert len(ours) == len(theirs) > 20 and not lines, (way, words, lines[:4])
        inlined = run(path, 'script', '-i', name).out.count('(inlined)'), run('perf', 'script', '-i', name).out.count('(inlined)')
        assert inlined[0] == inlined[1] and bool(inlined[0]) == (way == 'dwarf'), (way, inlined)
    # Each of it can be asked for, and taken back.
    assert run(path, 'script', '-i', 'fp.data', '--inline').out.count('work+0x') > 20
    assert ' work (inlined)' in run(path, 'script', '-i', 'fp.data', '--frames', 'pace').out
    result = pace('script', '-i', 'fp.data', '--frames', 'both')
    assert result.status == 2 and 'perf, perf7, memory or pace' in result.err, result
    files, memory = (re.findall(r'(?m)^\t *([0-9a-f]+) main$', pace('script', '--no-inline', '-i', 'fp.data', '-F', 'ip,sym', *words).out)
                     for words in ([], ['--frames', 'memory']))
    assert files and len(files) == len(memory), (files[:3], memory[:3])
    # The program may be anywhere, in whole pages.
    assert all(int(a, 16) < 1 << 20 < int(b, 16) and (int(b, 16) - int(a, 16)) % 4096 == 0 for a, b in zip(files, memory)), (files[:3], memory[:3])


@test
def call_chains_are_those_of_perf_7_for_its_callers():
    """Where 7 differs from the installed one: addresses in memory, inlined functions in all chains, wider columns."""
    can_record()
    path = link()
    with open('inlined.c', 'w', encoding='utf-8') as file:
        file.write(INLINED)
    build_c(os.path.abspath('inlined.c'), 'inlined')
    for way in ('fp', 'dwarf'):
        done = run(path, 'record', '-q', '-e', 'cpu-clock:u', '--keep-stacks', '--call-graph', way, '-o', f'{way}.data', './inlined')
        assert done.status == 0, done
        as_6, as_7 = (run(path, 'script', '-i', f'{way}.data', env=dict(os.environ, PACE_AS_PERF=version)).out for version in ('', '7.2'))
        assert as_7 == run(PACE, 'script', '--frames=perf7', '--no-unnamed-functions', '-i', f'{way}.data').out, as_7[:500]
        heads = [line for line in as_7.splitlines() if line.endswith('cpu-clock:u: ')]
        assert all(re.match(r'\S+ +\d+  *[\d.]+: ', line) and len(re.match(r'\S+ ( *\d+)', line)[1]) >= 7 for line in heads) and len(heads) > 20, heads[:3]
        chain = re.search(r'^\t *([0-9a-f]+) work\+(0x[0-9a-f]+) \(inlined\)\n\t *\1 twice\+\2 \(inlined\)\n\t *\1 outer\+\2 \(\S+\)\n\t *([0-9a-f]+) main\+', as_7, re.M)
        assert chain and int(chain[1], 16) > 1 << 20 and int(chain[3], 16) > 1 << 20, (way, as_7[-1500:])
        inlined = as_6.count(' (inlined)'), as_7.count(' (inlined)')
        assert inlined[1] > 20 and (inlined[0] > 20) == (way == 'dwarf'), (way, inlined)
        lines = run(path, 'script', '-F', '+srcline', '-i', f'{way}.data', env=dict(os.environ, PACE_AS_PERF='7.2')).out
        assert re.search(r' work\+0x[0-9a-f]+\n  inlined\.c:2 \(inlined\)\n', lines), lines[-1500:]


OVERLOADED = '''#include <vector>
volatile long x;
namespace ns {
template <class T> struct Box { __attribute__((noinline)) void spin(int n, const T &t) const { for (int i = 0; i < n; i++) x += t.size(); } };
__attribute__((noinline)) int count(const std::vector<int> &v, double d) { for (int i = 0; i < 100000; i++) x += i; return v.size() + d; }
}
int main() { ns::Box<std::vector<int>> b; std::vector<int> v; for (int i = 0; i < 100; i++) { b.spin(100000, v); ns::count(v, 1.0); } }
'''


@test
def parameters_of_functions_are_shown_where_perf_shows_them():
    can_record()
    perf_works()
    path = link()
    with open('overloaded.cc', 'w', encoding='utf-8') as file:
        file.write(OVERLOADED)
    done = run('g++', '-O1', '-o', 'overloaded', 'overloaded.cc')
    if done.status:
        skip('no C++ compiler works here: ' + done.err[-80:])
    assert run('perf', 'record', '-q', '-e', 'cpu-clock:u', '-o', 'o.data', './overloaded').status == 0

    def names(tool, *words):
        return sorted(set(re.findall(r' (ns::.*)$', run(tool, 'script', '-i', 'o.data', '-F', 'ip,sym', *words).out, re.M)))
    plain, verbose = names('perf'), names('perf', '-v')
    assert len(plain) == 2 and '(' not in ''.join(plain) and all(')' in name for name in verbose), (plain, verbose)
    as_7 = run(path, 'script', '-i', 'o.data', '-F', 'ip,sym', env=dict(os.environ, PACE_AS_PERF='7.2')).out
    assert 'ns::count(std::vector' in as_7, as_7
    assert names(path) == plain and names(path, '-v') == names(path, '--parameters') == names(PACE, '--parameters') == verbose
    assert 'ns::count(std::vector<int, std::allocator<int> > const&, double)' in run(path, 'report', '--stdio', '-i', 'o.data', '--parameters').out


COLUMNS = ('command', 'short', 'long', 'value', 'versions', 'verdict', 'why')
VERDICTS = ('same', 'better', 'different', 'refused', 'never')
# `perf data -h` lists what only its subcommand takes, which has rows of its own.
OF_CONVERT = {f'data {option}' for option in ('--all', '--to-ctf', '--to-json', '--tod', '--time', '--force', '-f')}


SCENE = '''__attribute__((noinline)) int inner(int n) { int s = 1; while (n-- > 0) s = s * 3 ^ n; return s; }
__attribute__((noinline)) int outer(int n) { int s = 0; while (n--) s += inner(n); return s; }
int main(void) { return outer(10) & 1; }
'''


def write_scene(path, places):
    """Samples at these places of a program: function, offset, how often. Returns where code is in the file, by address."""
    with open('scene.c', 'w', encoding='utf-8') as file:
        file.write(SCENE)
    program = build_c(os.path.abspath('scene.c'), 'scene', '-no-pie')
    functions = {words[2]: int(words[0], 16) for words in map(str.split, run('nm', program).out.split('\n')) if len(words) == 3}
    code = re.search(r'LOAD +0x(\w+) 0x(\w+) 0x\w+ 0x(\w+) 0x\w+ R E', run('readelf', '-lW', program).out)
    offset, address, size = (int(text, 16) for text in code.groups())
    samples = [{'ip': (functions[name] if name else 0) + at} for name, at, n in places for _ in range(n)]
    handmade.write(path, handmade.IP | handmade.TID | handmade.TIME | handmade.PERIOD, samples, program=(program, address, size + 0xfff & ~0xfff, offset))
    return program, {name: at - address + offset for name, at in functions.items()}


@test
def verbose_rows_have_paths_and_addresses_as_by_perf():
    perf_works()
    UNKNOWN = 0x600010
    program, at = write_scene('v.data', [('inner', 4, 3), ('outer', 1, 5), ('main', 0, 1), (None, UNKNOWN, 2)])

    def rows_of(tool, *words):
        result = run(tool, 'report', '-v', '--stdio', '-i', 'v.data', *words)
        lines = [re.sub(r' +', ' ', line).strip() for line in result.out.split('\n') if line.strip() and line[0] != '#']
        # perf says which of several files names are from: d is the file itself, B its copy in the cache of build-ids, D its debug file.
        return sorted(re.sub(r'( 0x\w+) [dDBb] ', r'\1 d ', line) for line in lines)
    for words in (['-s', 'sym'], ['-s', 'dso'], ['-s', 'dso,sym'], ['-s', 'sym,comm', '-n'], ['-s', 'sym,dso', '-t', '|'], ['-F', 'overhead,sym']):
        ours, theirs = (rows_of(tool, *words) for tool in (link(), 'perf'))
        if '-t' in words:
            theirs = [re.sub(r' *\| *', '|', row) for row in theirs]
        assert ours == theirs and len(ours) in (2, 4), (words, ours, theirs)
        assert ours == rows_of(PACE, *words), (words, ours)
    # Of several places in a function it is the one with most samples. Programs get names, as ever.
    program, at = write_scene('v.data', [('inner', 4, 3), ('inner', 9, 5), ('inner', 12, 4)])
    assert rows_of(PACE, '-s', 'sym') == ['100.00%% 0x%x d [.] inner' % (at['inner'] + 9)]
    for form in ('--csv', '--json', '--md'):
        assert run(PACE, 'report', '-v', '-i', 'v.data', '-s', 'dso,sym', form).out == run(PACE, 'report', '-i', 'v.data', '-s', 'dso,sym', form).out
    assert program in rows_of(PACE, '-s', 'dso')[0]
    # A profile from elsewhere has no addresses.
    with open('f.folded', 'w', encoding='utf-8') as file:
        file.write('main;inner 3\n')
    assert run(PACE, 'report', '-v', '-i', 'f.folded').out == run(PACE, 'report', '-i', 'f.folded').out


def options_of_perf():
    """The rows of the table."""
    with open(os.path.join(TOP, 'tests/oracle/perf_options.tsv'), encoding='utf-8') as file:
        return [dict(zip(COLUMNS, line.rstrip('\n').split('\t'))) for line in file if not line.startswith('#')]


def spellings(row):
    return [f'--{row["long"]}'] * bool(row['long']) + [f'-{row["short"]}'] * bool(row['short'])


# What cannot be done, so that no command does much: an option that is refused is so before that is tried.
NOWHERE = {'record': ['-p', '999999999'], 'stat': ['-p', '999999999'], 'top': ['-p', '999999999'], 'list': ['--sysfs', '/nonexistent'],
           'diff': ['/nonexistent', '/nonexistent'], 'buildid-cache': [], 'probe': [], 'config': [], 'check': ['feature', '/nonexistent'], 'kallsyms': [],
           'version': [], 'test': ['/nonexistent']}


def answer_to(row, option):
    """"taken", "unknown", or the sentence with which it is refused."""
    command = row['command'].split()
    words = [option] if not row['value'] else [f'{option}=1'] if option.startswith('--') else [option, '1']
    result = pace(*command, *words, *NOWHERE.get(command[0], ['-i', '/nonexistent']), env=dict(os.environ, HOME=os.path.abspath('home')))
    if f"no option '{option}" in result.err:
        return 'unknown'
    refused = result.status == 1 and re.search(rf'^pace [\w -]+: --{re.escape(row["long"] or "-")}: (.*)$', result.err, re.M)
    return refused[1] if refused else 'taken'


@test
def every_option_of_perf_has_a_verdict_and_a_reason_unless_it_is_the_same():
    rows = options_of_perf()
    for row in rows:
        assert len(row) == len(COLUMNS) and row['verdict'] in VERDICTS and bool(row['why']) == (row['verdict'] != 'same'), row
    keys = [(row['command'], option, row['versions']) for row in rows for option in spellings(row)]
    assert len(keys) == len(set(keys)) and len(keys) > 900, len(keys)
    counts = collections.Counter(row['verdict'] for row in rows)
    print(f'# of {len(rows)} options of perf ' + ', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS))
    for command in sorted({row['command'].split()[0] for row in rows}):
        of = collections.Counter(row['verdict'] for row in rows if row['command'].split()[0] == command)
        print(f'#   {command}: ' + ', '.join(f'{of[verdict]} {verdict}' for verdict in VERDICTS if of[verdict]))


def check_answers(is_wanted):
    commands = set(run(link(), '--list-cmds').out.split())
    os.makedirs('home', exist_ok=True)
    rows = [(row, option) for row in options_of_perf() if row['command'].split()[0] in commands for option in spellings(row) if is_wanted(option)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        answers = list(pool.map(answer_to, *zip(*rows)))
    wrong = []
    for (row, option), answer in zip(rows, answers):
        name = f'{row["command"]} {option}'
        expected = row['why'] if row['verdict'] in ('refused', 'never') else 'taken'
        if answer != expected and not (answer == 'unknown' and name in OF_CONVERT):
            wrong.append((name, expected, answer))
    assert not wrong and len(rows) > 200, (len(rows), wrong)


@test
def every_long_option_of_perf_is_taken_or_refused_in_a_sentence():
    check_answers(lambda option: option.startswith('--'))


@test
def every_short_option_of_perf_is_taken_or_refused_in_a_sentence():
    check_answers(lambda option: not option.startswith('--'))


@test
def commands_that_are_not_there_name_what_is_alike():
    commands = set(run(link(), '--list-cmds').out.split())
    missing = {(row['command'].split()[0], row['verdict'], row['why']) for row in options_of_perf() if row['command'].split()[0] not in commands}
    for name, verdict, why in sorted(missing):
        result = pace(name)
        assert result.status == 2 and verdict == 'never' and f"there is no command '{name}': {why}" in result.err, (name, verdict, why, result)
        assert 'did you mean' not in result.err, result


# What perf 7.2 prints of these counts, without times.
OF_PERF_7 = '''#,context-switches,0.0,cs/sec  cs_per_second
#,cpu-migrations,0.0,migrations/sec  migrations_per_second
#,page-faults,0.0,faults/sec  page_faults_per_second
#,task-clock,#,CPUs  CPUs_utilized
#,branch-misses,20.0,%  branch_miss_rate
#,branches,#,M/sec  branch_frequency
#,cycles,#,GHz  cycles_frequency
#,instructions,0.5,instructions  insn_per_cycle
#,stalled-cycles-frontend,0.30,frontend_cycles_idle'''


@test
def callers_that_know_perf_7_are_answered_as_by_it():
    path, as_7 = link(), dict(os.environ, PACE_AS_PERF='7.2')
    counts = {'cycles': 2_000_000, 'instructions': 1_000_000, 'stalled-cycles-frontend': 600_000, 'branches': 1000, 'branch-misses': 200}
    with machine('zen4', counts, is_strict=False) as on:
        rows, members, named = (on.run(path, 'stat', *words, 'true', env={'PACE_AS_PERF': '7.2'}).err for words in (['-x,'], ['-j'], ['-x,', '-e', 'cycles']))
        text = on.run(path, 'stat', 'true', env={'PACE_AS_PERF': '7.2'}).err
    found = [row.split(',') for row in rows.splitlines() if row[0].isdigit()]
    changing = re.compile('CPUs_utilized|frequency')
    found = [f'#,{name},{"#" if changing.search(metric) else value},{metric}' for _, _, name, _, _, value, metric in found]
    assert sorted(found) == sorted(OF_PERF_7.splitlines()), (rows, found)
    # A metric's value is a text, and where there is none there are no members for it; events that were asked for have none.
    found = {row.get('event'): row for row in map(json.loads, members.splitlines())}
    assert found['instructions']['metric-value'] == '0.500000' and 'metric-value' not in found['stalled-cycles-backend'], members
    assert re.fullmatch(r'2000000,,cycles,\d+,100\.00,,\n', named), named
    assert re.search(r'^ +[\d.]+ msec task-clock +# +[\d.]+ CPUs  CPUs_utilized$', text, re.M), text
    # Nothing to count is an error, not a table.
    result = run(path, 'stat', '-C', '9999', '-e', 'cpu-clock', 'true', env=as_7)
    assert result.status and 'No supported events found.' in result.err, result
    assert 'No supported' not in run(path, 'stat', '-C', '9999', '-e', 'cpu-clock', 'true').err
    assert json.loads(run(path, 'list', '-j', 'sw', env=as_7).out)[0]['Unit'] == 'software'


@test
def packed_records_are_counted_as_by_perf_and_have_the_form_of_its_version():
    can_record()
    perf_works()
    path = link()
    for version, name, other in (('', 'COMPRESSED', 'COMPRESSED2'), ('7.2', 'COMPRESSED2', 'COMPRESSED')):
        env = dict(os.environ, PACE_AS_PERF=version)
        done = run(path, 'record', '-z', '-g', '-e', 'cpu-clock', '-F', '5000', '-o', 'z.data', 'sh', 'work.sh', env=env)
        assert done.status == 0, done
        ours = run(path, 'report', '-i', 'z.data', '--stats')
        assert re.search(rf' {name} events: +[1-9]', ours.out) and f' {other} events:' not in ours.out, (version, ours)
        if not version:
            assert ours.out.split() == run('perf', 'report', '-i', 'z.data', '--stats').out.split(), ours
        samples = re.search(r'\((\d+) samples\)', done.err)
        assert pace('script', '-i', 'z.data', '-F', 'event').out.count('cpu-clock') == int(samples[1]), (version, done)


main()
