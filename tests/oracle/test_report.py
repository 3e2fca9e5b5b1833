#!/usr/bin/env python3
"""`pace report` compared with `perf report`: which samples and rows are shown, and the figures and texts of their columns.

Not compared: functions of the procedure linkage table, to which perf gives one name; columns that perf leaves out because they are
the same in all rows. With --children, whether samples that were filtered out count for callers depends in perf on the order of
samples; pace counts only what is left."""
import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import handmade  # noqa: E402
import perftext  # noqa: E402

WORK = '''for i in 1 2 3; do seq 1 30000 | sort -R | md5sum; done
awk 'BEGIN { for (i = 0; i < 300000; i++) s = s + sqrt(i) }'
'''


def recording(*options):
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    for _ in range(8):
        result = pace('record', '-q', '-F', '5000', '-e', 'cpu-clock', '--sample-cpu', *options, '-o', 'w.data', 'sh', 'work.sh')
        assert result.status == 0, result
        # Heads of procedure linkage tables, which are seldom met, have a name in pace only.
        if '_dl_runtime_resolve@plt' not in pace('report', '-i', 'w.data', '-g', 'none', '-s', 'sym').out:
            return


def all_rows(result):
    """Rows as tuples of cells, of all events."""
    assert result.status == 0, result
    return [tuple(re.sub(r' +', ' ', cell) for cell in row.cells) for _, block in perftext.parse(result.out) for row in block]


def rows(result):
    """The same without procedure linkage tables; in which order rows of equal shares stand is not compared."""
    return sorted(row for row in all_rows(result) if '@plt' not in ' '.join(row))


def same(path, *options):
    """How many rows both show; fails where they differ."""
    result = pace('report', '--no-unnamed-functions', '-i', path, *options)
    ours = rows(result)
    theirs = without_heads(rows(run('perf', 'report', '--stdio', '-f', '-i', path, *options)), ours, result)
    assert ours == theirs, (options, sorted(set(ours) - set(theirs))[:10], sorted(set(theirs) - set(ours))[:10])
    return len(ours)


FILTERS = [
    ['-C', '0'],
    ['-C', '0-1'],
    ['--cpu', '1'],
    ['--comms', 'sort,seq'],
    ['-c', 'awk,mawk,gawk,md5sum'],
    ['-d', 'libc.so.6,[kernel.kallsyms]'],
    ['-d', 'libc.so.6,nowhere', '--percentage', 'relative'],
    ['-d', 'libc.so.6,nowhere', '--percentage', 'absolute'],
    ['-c', 'sort,md5sum', '--percentage', 'relative', '-d', 'libc.so.6,sort'],
    ['-S', 'malloc,free,_int_malloc,_int_free,memcpy'],
    ['--symbol-filter', 'mem'],
    # no function of the procedure linkage table is called so: the sum would have them
    ['--symbol-filter', 'page', '--percentage', 'relative'],
    ['--time', '10%-50%'],
    ['--time', '20%/3'],
    ['--time', '0%-10%,50%-60%'],
    ['--time', '30%-100%', '-C', '0', '-c', 'sort,sh'],
]


@test
def filters_leave_the_rows_of_perf():
    recording()
    shown = [same('w.data', '-n', '-s', 'comm,dso,sym', *options) for options in FILTERS]
    assert sum(n > 3 for n in shown) >= 10, list(zip(FILTERS, shown))


@test
def what_has_no_name_is_hidden_as_by_perf():
    """Of what perf shows no more the heads of procedure linkage tables have a name in pace: they count in its shares, not in perf's."""
    recording()
    options = ['report', '-i', 'w.data', '-n', '-s', 'comm,dso,sym']
    hidden = pace(*options, '--no-unnamed-functions', '--hide-unresolved')
    ours, theirs = (sorted(row[1:] for row in rows(result)) for result in (hidden, run('perf', *options, '--stdio', '-f', '--hide-unresolved')))
    assert len(ours) > 3 and ours == theirs, (sorted(set(ours) - set(theirs))[:10], sorted(set(theirs) - set(ours))[:10])
    shown = all_rows(hidden)
    total = sum(int(row[1]) for row in shown)
    assert all(abs(float(row[0].rstrip('%')) - 100 * int(row[1]) / total) < 0.0051 for row in shown), hidden
    plain = all_rows(pace(*options, '--no-unnamed-functions'))
    nameless = [row for row in plain if re.match(r'\[.\] 0x', row[-1])]
    assert sorted(row[1:] for row in shown) == sorted(row[1:] for row in plain if row not in nameless), plain
    if not nameless:
        skip('the programs here have symbols')


@test
def processes_and_threads_are_picked_by_number():
    recording()
    pids = re.findall(r' (\d+):(?:sort|awk|mawk|gawk)\b', pace('report', '-i', 'w.data', '-s', 'pid').out)
    assert pids
    # by thread: into a row that another thread shares perf counts what the filter leaves out
    for option in ('--pid', '--tid'):
        assert same('w.data', '-n', '-s', 'pid,dso,sym', option, ','.join(pids)) > 3
        assert same('w.data', '-n', '-s', 'pid,dso,sym', option, pids[0], '--percentage', 'relative') > 1


@test
def columns_are_as_wide_as_asked():
    """Perf fills the last column up with blanks, and never cuts an address."""
    recording()
    for options in (['-w', '12,6,10,20'], ['-w', '0,3'], ['-w', '9,0,5,0', '-n'], ['--show-cpu-utilization'],
                    ['--show-cpu-utilization', '-w', '9,9,9,4,3']):
        words = ['report', '-g', 'none', '-i', 'w.data', '-s', 'comm,dso,sym', *options]
        ours, theirs = (sorted({line.rstrip() for line in result.out.split('\n') if re.match(r' +\S+%', line) or re.match(r'# [. ]+$', line)})
                        for result in (pace(*words, '--no-unnamed-functions'), run('perf', *words, '--stdio', '-f')))
        # Of stubs only we have names, and of those that are cut the end is missing (memcpy@@GLIBC_2.).
        ours, theirs = ([line for line in lines if '@' not in line and '0x' not in line] for lines in (ours, theirs))
        assert len(ours) > 5 and ours == theirs, (options, set(ours) - set(theirs), set(theirs) - set(ours))
    for bad in ('x', '5,', '3;4', '-1', '99999999999999999999'):
        result = pace('report', '-i', 'w.data', '-w', bad)
        assert (result.status == 2 and '--column-widths' in result.err) or bad == '5,', result


@test
def what_only_perf_has_is_taken_or_refused_with_the_reason():
    recording()
    plain = pace('report', '-i', 'w.data').out
    for options in (['--stdio-color', 'never'], ['--modules'], ['-m'], ['--addr2line', '/bin/false'], ['--addr2line-style', 'libdw'], ['--unwind-style', 'libdw'], ['--objdump', '/bin/false', '-M', 'intel', '--source', '--asm-raw'],
                    ['--percent-type', 'local-hits'], ['--prefix', '/a', '--prefix-strip', '2'], ['--no-demangle-kernel'], ['--disable-order']):
        assert pace('report', '-i', 'w.data', *options).out == plain, options
    for command, options, part in (('report', ['--itrace=i1us'], '--itrace: AUX traces'),
                                   ('stat', ['-T', 'true'], 'transactions')):
        result = pace(command, *options)
        assert result.status and part in result.err and not result.out, result


@test
def keys_with_a_plus_are_added_to_the_usual_ones():
    recording()
    assert same('w.data', '-s', '+cpu', '-n') > 10
    assert same('w.data', '-F', '+cpu', '-n', '-s', 'comm,dso') > 10
    for options in (['-F', '+cpu', '-n', '-s', 'dso'], ['-F', '+cpu,comm', '--show-total-period', '-s', 'dso'], ['-s', '+pid,cpu'], ['-F', '+sample']):
        heads = [re.search(r'^# *Overhead.*', run(*words, 'report', '--stdio', '-i', 'w.data', *options).out, re.M).group(0).rstrip()
                 for words in ([PACE], ['perf'])]
        assert heads[0].split() == heads[1].split(), heads
    assert "there is no key 'cpus'" in pace('report', '-i', 'w.data', '-s', '+cpus').err


@test
def times_have_nine_digits_if_asked_for():
    recording()
    assert same('w.data', '--ns', '-s', 'time', '-n') > 0
    assert re.search(r'\d\.\d{9}$', pace('report', '-i', 'w.data', '--ns', '-s', 'time').out, re.M)
    assert not re.search(r'\d\.\d{9}$', pace('report', '-i', 'w.data', '-s', 'time').out, re.M)


@test
def short_names_of_options_are_those_of_later_perfs():
    recording()
    for short, long in (('-H', '--hierarchy'), ('-U', '--hide-unresolved')):
        assert pace('report', '-i', 'w.data', short).out == pace('report', '-i', 'w.data', long).out
    assert pace('report', '-i', 'w.data', '-H').out != pace('report', '-i', 'w.data').out


@test
def a_socket_is_picked_by_its_number():
    recording()
    assert same('w.data', '-n', '-s', 'comm,dso,sym', '--socket-filter', '0') > 3
    result = pace('report', '--json', '-i', 'w.data', '--socket-filter', '9')
    ledger = json.loads(result.out)['ledger']
    assert ledger['shown'] == 0 and ledger['filtered'] == ledger['recorded'] > 0, result
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'n.data', 'true').status == 0
    result = pace('report', '-i', 'n.data', '--socket-filter', '0')
    assert result.status == 2 and '--sample-cpu' in result.err and not result.out, result


def switchable():
    """A recording of three events, and when each was taken."""
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    events = ['cpu-clock/freq=3000,name=clock/', 'page-faults/period=7,name=faults/', 'context-switches/period=3,name=switches/']
    result = run('perf', 'record', '-q', '-o', 's.data', *[word for event in events for word in ('-e', event)], 'sh', 'work.sh')
    assert result.status == 0, result


def samples_of_events(result):
    return {name: int(n) for n, name in re.findall(r"^# Samples: (\d+) +of event '(\w+)'", result.out, re.M)}


@test
def samples_between_two_events_are_those_of_perf():
    switchable()
    n_shown = 0
    for switches in (['--switch-on', 'faults', '--switch-off', 'switches'], ['--switch-on', 'switches'],
                     ['--switch-on', 'switches', '--switch-off', 'switches']):
        for options in (switches, [*switches, '--show-on-off-events']):
            n_shown += same('s.data', '-n', '-s', 'comm,dso,sym', *options)
            ledger = json.loads(pace('report', '--json', '-i', 's.data', *options).out)['ledger']
            assert ledger['shown'] and ledger['filtered'] and ledger['shown'] + ledger['filtered'] == ledger['recorded'], ledger
    assert n_shown > 20, n_shown


@test
def an_event_that_only_switches_off_ends_it_all():
    """Perf leaves out nothing but that one sample, against its manual."""
    switchable()
    taken = [line.split(':')[1].strip() for line in run('perf', 'script', '-f', '-i', 's.data', '-F', 'time,event').out.splitlines()]
    first = taken.index('switches')
    for options, n in (([], first), (['--show-on-off-events'], first + 1)):
        result = pace('report', '-i', 's.data', '--switch-off', 'switches', *options)
        assert sum(samples_of_events(result).values()) == n > 0, (result, n)
    result = pace('report', '-i', 's.data', '--switch-on', 'swotches')
    assert result.status == 2 and 'clock, faults, switches' in result.err and not result.out, result


CALLS = '''static volatile long x;
void leaf(long n) { for (long i = 0; i < n; i++) x += i; }
void mid_a(long n) { leaf(n); x++; }
void mid_b(long n) { leaf(n); for (long i = 0; i < n; i++) x += i; }
void outer(long n) { mid_a(n); mid_b(n); x++; }
int main(void) { for (int i = 0; i < 20; i++) outer(1000000); return 0; }
'''


@test
def callees_are_ignored_as_by_perf():
    """With --children perf forgets the callers of the function instead, and with -g none nothing."""
    can_record()
    perf_works()
    with open('calls.c', 'w', encoding='utf-8') as file:
        file.write(CALLS)
    run('cc', '-O0', '-fno-omit-frame-pointer', '-o', 'calls', 'calls.c')
    assert run('perf', 'record', '-q', '-g', '-F', '3000', '-e', 'cpu-clock:u', '-o', 'c.data', './calls').status == 0
    for expression in ('nowhere', 'mid_a', '^mid', '^(main|mid_a)$', 'leaf'):
        same('c.data', '-n', '-s', 'sym', '--no-children', '--ignore-callees', expression)
    words = ['report', '-i', 'c.data', '--json', '-s', 'sym', '--ignore-callees', '^mid']
    for options in (['--no-children'], ['--children']):
        answer = json.loads(pace(*words, *options).out)
        shown = {row['symbol']: row['samples'] for row in answer['events'][0]['rows']}
        assert shown.get('mid_a', 0) and shown.get('mid_b', 0) and 'leaf' not in shown, shown
        assert answer['ledger']['shown'] == answer['ledger']['recorded'], answer['ledger']
        if options == ['--children']:
            assert any(row['symbol'] == 'outer' and row['samples'] < 5 < row['total_period'] for row in answer['events'][0]['rows'])
    assert pace('report', '-i', 'c.data', '--ignore-callees', '(').status == 2
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'n.data', 'true').status == 0
    result = pace('report', '-i', 'n.data', '--ignore-callees', 'x')
    assert result.status == 2 and 'record with -g' in result.err, result


@test
def counts_of_threads_are_those_of_perf():
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    events = ['-e', 'cpu-clock', '-e', 'page-faults', '-e', 'context-switches']
    assert run('perf', 'record', '-q', '-s', *events, '-o', 'theirs.data', 'sh', 'work.sh').status == 0
    assert pace('record', '-q', '-s', *events, '-o', 'ours.data', 'sh', 'work.sh').status == 0

    def table_of(text):
        lines = re.search(r'^# +PID +TID.*', text, re.M | re.S).group(0).split('\n')
        names = [name for name in lines[0][1:].split() if name not in ('PID', 'TID', 'Command')]
        found = [re.findall(r'\d+', line)[:2 + len(names)] for line in lines[1:] if re.match(r' *\d+ +\d', line)]
        return {(row[1], name): int(n) for row in found for name, n in zip(names, row[2:])}
    for path in ('theirs.data', 'ours.data'):
        theirs = table_of(run('perf', 'report', '-f', '--stdio', '-i', path, '-T').out)
        result = pace('report', '-i', path, '-T')
        ours = table_of(result.out)
        assert len(ours) > 10 and ours == theirs, (path, ours, theirs)
        assert re.search(r'^ +\d+ .* \d+  sort$', result.out, re.M), result.out
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'n.data', 'true').status == 0
    result = pace('report', '-i', 'n.data', '-T')
    assert result.status == 2 and 'record with -s' in result.err and not result.out, result


@test
def what_nothing_is_of_is_shown_if_asked_for():
    can_record()
    perf_works()
    assert pace('record', '-q', '-e', 'cpu-clock,emulation-faults', '-o', 'w.data', 'seq', '10000').status == 0
    empty = "# Samples: 0 of event 'emulation-faults"
    assert empty in re.sub(' +', ' ', pace('report', '-i', 'w.data', '--no-skip-empty').out)
    assert empty not in re.sub(' +', ' ', pace('report', '-i', 'w.data', '--skip-empty').out)
    for option in ('--skip-empty', '--no-skip-empty'):
        ours = re.findall(r'^ *(\w+) events: +(\d+)', pace('report', '-f', '-i', 'w.data', '--stats', option).out, re.M)
        theirs = re.findall(r'^ *(\w+) events: +(\d+)', run('perf', 'report', '-f', '-i', 'w.data', '--stats', option).out, re.M)
        assert set(theirs) <= set(ours), (option, ours, theirs)
        assert any(n == '0' for _, n in ours) == (option == '--no-skip-empty'), ours


@test
def a_span_of_seconds_is_that_of_perf():
    recording()
    times = [float(t) for t in re.findall(r'([\d.]+): ', run('perf', 'script', '-f', '-i', 'w.data', '-F', 'time').out)]
    middle = f'{times[len(times) // 2]:.6f}'
    for span in (f'{middle},', f',{middle}'):
        assert same('w.data', '-n', '-s', 'comm,dso,sym', '--time', span) > 3


@test
def names_behind_the_option_for_processors_are_those_of_threads():
    recording()
    assert pace('report', '-i', 'w.data', '-C', 'sort,seq').out == pace('report', '-i', 'w.data', '-c', 'sort,seq').out


@test
def shares_of_callers_are_of_the_samples_that_are_left():
    recording('-g')
    out = pace('report', '-i', 'w.data', '--children', '-g', 'none', '-s', 'comm', '-c', 'sort,seq', '--percentage', 'relative').out
    shares = [tuple(map(float, pair)) for pair in re.findall(r'^ +([\d.]+)% +([\d.]+)% +(?:sort|seq)', out, re.M)]
    assert shares and abs(sum(total for total, _ in shares) - 100) < 0.05 and all(total == own for total, own in shares), out


# Names of functions beside their sizes: without them perf shows a row for each, though equal sizes are one value.
COLUMNS = [
    ['-F', 'overhead,overhead_sys,overhead_us,comm'],
    ['-F', 'overhead,overhead_sys,overhead_us,overhead_guest_sys,overhead_guest_us,dso,sym'],
    ['-F', 'overhead,sample,period,comm'],
    ['-n', '--show-total-period', '-s', 'comm,dso'],
    ['-s', 'dso,time'],
    ['-s', 'comm,time', '--time-quantum', '20ms'],
    ['-s', 'time,cpu', '--time-quantum', '10ms'],
    ['-s', 'time,sym', '--time-quantum', '700us'],
    ['-s', 'local_weight,comm'],
    ['-s', 'weight,dso'],
    ['-s', 'comm,code_page_size'],
    ['-s', 'code_page_size,dso,sym'],
]


@test
def without_callers_there_is_one_column_of_shares():
    recording()
    for options in ([], ['-s', 'dso'], ['-s', 'comm,dso', '-n']):
        assert same('w.data', '--children', *options) > 5
        head = pace('report', '-i', 'w.data', '--children', '-t', '|', *options).out.split('\n')[0]
        assert head.startswith('# Overhead|') and 'Self' not in head and 'Children' not in head, head
    document = json.loads(pace('report', '--json', '-i', 'w.data', '--children', '-s', 'dso').out)
    assert 'total_period' not in document['events'][0]['rows'][0], document['events'][0]['rows'][0]


@test
def conditions_on_names_that_only_one_build_has_are_refused():
    recording()
    name = re.search(r'\bfun_[0-9a-f]+$', pace('report', '-i', 'w.data', '-s', 'sym').out, re.M)
    if not name:
        skip('the programs here have symbols')
    for condition in (f'share({name[0]}) > 99%', f'samples > 0 && children({name[0]}) < 99%'):
        result = pace('report', '-i', 'w.data', '--fail-if', condition)
        assert result.status == 2 and f"'{name[0]}' is a name that pace made" in result.err and 'dso(NAME)' in result.err, result
    assert pace('report', '-i', 'w.data', '--fail-if', 'share(*) + nameless < 99.9%').status == 0


@test
def columns_are_as_wide_as_what_is_shown():
    """perf's are as wide as all rows need, those below the limit too: blanks that a reader has to look across."""
    recording()
    out = pace('report', '-i', 'w.data', '-s', 'comm,dso', '--percent-limit', '20').out
    dots, = re.findall(r'^# (\.+)  (\.+)  (\.+)$', out, re.M)
    shown = re.findall(r'^ +\S+% +(\S+) +(\S+)$', out, re.M)
    assert shown and [len(text) for text in dots] == [8, max(len('Command'), *(len(comm) for comm, _ in shown)),
                                                     max(len('Shared Object'), *(len(dso) for _, dso in shown))], out


@test
def columns_are_those_of_perf():
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    result = run('perf', 'record', '-q', '-W', '--code-page-size', '-e', 'cpu-clock', '--sample-cpu', '-F', '5000', '-o', 'w.data',
                 'sh', 'work.sh')
    if result.status:
        skip('this kernel does not tell the size of pages')
    for options in COLUMNS:
        assert same('w.data', *options) > 1, options


@test
def sizes_of_functions_are_those_of_perf():
    recording()

    def cells(out):
        return sorted(tuple(line.split()) for line in out.split('\n') if re.match(r' +\d', line) and '@plt' not in line)
    # Whoever loads a BPF program between the two readings changes the kernel's list of functions.
    for _ in range(4):
        # perf 6.1 puts two columns behind sizes that only recordings of branches fill
        theirs = run('perf', 'report', '--stdio', '-f', '-i', 'w.data', '-s', 'dso,sym,symbol_size')
        theirs.out = re.sub(r' +- +- *$', '', theirs.out, flags=re.M)
        ours = pace('report', '--no-unnamed-functions', '-i', 'w.data', '-s', 'dso,sym,symbol_size')
        mine, others = cells(ours.out), cells(theirs.out)
        if mine == others:
            break
    assert len(mine) > 10 and mine == others, (sorted(set(mine) - set(others)), sorted(set(others) - set(mine)), len(mine), len(others))


# ---- keys ----

def table(result):
    """Rows of -t ';' as cells -> share: of equal rows, as perf shows some twice, the sum."""
    assert result.status == 0, result
    found = {}
    for line in result.out.split('\n'):
        if not line.strip() or line.startswith('#') or '@plt' in line:
            continue
        cells = [re.sub(r'\s+', ' ', cell).strip() for cell in line.split(';')]
        if cells[-1] == '- -':
            cells.pop()  # perf's columns of instructions per cycle, behind functions
        shares = [i for i, cell in enumerate(cells) if re.fullmatch(r'\d+\.\d+%?', cell)]
        rest = [plain(cell) for i, cell in enumerate(cells) if i not in shares[:1]]
        rest = tuple(cell for cell in rest if cell)
        found[rest] = found.get(rest, 0) + float(cells[shares[0]].rstrip('%'))
    return found


def plain(cell):
    """An address that nothing is known of perf writes without 0x if it is 0, and says it is a hypervisor's; what is not known of a
    sample of another event it leaves empty or out. The name that its child has before exec it cuts where no other is as long. perf 6.12
    names the code in a tracepoint's text."""
    cell = re.sub(r'call_site=\S+', 'call_site', cell)
    cell = re.sub(r'^\[[HXk.]\] (0x)?(0{16})$', r'[.] 0', cell)
    return '' if cell == 'N/A' else cell.replace('(nil)', '0x0').replace('perf-exec', 'perf-ex')


def keys_are_perfs(path, combinations, *options):
    shown = 0
    for keys in combinations:
        words = ['-i', path, '-t', ';', '-s', keys, *options]
        ours = table(pace('report', '-q', *words))
        theirs = table(run('perf', 'report', '--stdio', '-q', '-f', *words))
        assert set(ours) == set(theirs), (path, keys, sorted(set(ours) - set(theirs))[:8], sorted(set(theirs) - set(ours))[:8])
        for row, share in ours.items():
            assert abs(share - theirs[row]) < 0.06, (path, keys, row, share, theirs[row])
        shown += len(ours)
    return shown


# perf 6.1 takes accesses for the same that differ only in the numbers of levels: addresses keep them apart
MEMORY = ['symbol_daddr,mem', 'symbol_daddr,snoop', 'tlb', 'locked', 'blocked', 'symbol_daddr,mem,snoop,tlb,locked,blocked', 'local_weight', 'weight,dso', 'local_ins_lat', 'ins_lat,tlb',
          'symbol_daddr', 'dso_daddr', 'phys_daddr', 'data_page_size,code_page_size', 'transaction', 'transaction,local_weight',
          'addr', 'dso_size,comm', 'cpu,tlb', 'symbol_iaddr']


@test
def keys_of_memory_and_transactions_are_those_of_perf():
    perf_works()
    handmade.write_memory('m.data')
    # perf 6.1 counts the lines of 64 bytes without their addresses if no map tells them: not compared
    assert keys_are_perfs('m.data', MEMORY, '--mem-mode') > 100
    assert keys_are_perfs('m.data', ['transaction', 'transaction,weight,comm', 'local_weight,dso', 'addr,local_ins_lat']) > 30


@test
def keys_of_branches_are_those_of_perf():
    perf_works()
    handmade.write_branches('b.data')
    combinations = ['dso_from,dso_to', 'mispredict', 'in_tx,abort', 'cycles', 'mispredict,in_tx,abort,cycles', 'addr_from', 'addr_from,addr_to',
                    'addr_to,mispredict', 'comm,dso_to,cycles', 'dso']
    assert keys_are_perfs('b.data', combinations) > 50
    assert keys_are_perfs('b.data', combinations[:4], '-b') > 8


@test
def flags_of_transactions_are_told_in_words():
    handmade.write_memory('m.data')
    rows = json.loads(pace('report', '-i', 'm.data', '-s', 'transaction', '--json').out)['events'][0]['rows']
    assert sorted(row['transaction'] for row in rows) == sorted([
        'TX NEITHER', 'EL NEITHER', 'EL SYNC', 'TX ASYNC RETRY', 'TX SYNC CON', 'TX SYNC CAP-WRITE', 'TX SYNC CAP-READ', 'TX SYNC RETRY :ff',
        '', 'TX ASYNC :1'])


@test
def rows_are_ordered_by_what_they_cost():
    handmade.write_memory('m.data')
    rows = json.loads(pace('report', '-i', 'm.data', '-F', 'cost,average_weight,addr', '--json').out)['events'][0]['rows']
    costs = [row['cost'] for row in rows]
    assert len(costs) == 7 and costs == sorted(costs, reverse=True) and len(set(costs)) > 1, costs
    weights = [10 + i % 5 for i in range(2 * len(rows))]
    by_weight = json.loads(pace('report', '-i', 'm.data', '-s', 'addr,local_weight', '--json').out)['events'][0]['rows']
    for row in rows:
        apart = [r for r in by_weight if r['addr'] == row['addr']]
        assert len(apart) > 1 and sum(int(r['local_weight']) * r['samples'] for r in apart) == row['cost'], (row, apart, weights)
        assert row['average_weight'] == row['cost'] // row['samples']


@test
def what_is_not_known_is_null_for_programs():
    handmade.write_memory('m.data')
    rows = json.loads(pace('report', '-i', 'm.data', '-s', 'mem,symbol_size', '--json').out)['events'][0]['rows']
    unknown = [row for row in rows if row['mem'] is None]
    assert unknown and all(row['mem_reason'] and row['symbol_size'] is None for row in unknown), rows
    lines = list(csv.DictReader(io.StringIO(pace('report', '-i', 'm.data', '-s', 'mem,symbol_size', '--csv').out)))
    assert len(lines) == len(rows) and all(line['symbol_size'] == '' for line in lines)


@test
def keys_that_a_recording_has_nothing_for_are_refused():
    handmade.write_branches('b.data')
    handmade.write_memory('m.data')
    for path, options, message in [
            ('m.data', ['-s', 'symbol_from'], 'branches are not counted'), ('m.data', ['-b'], 'the recording has no branches'),
            ('b.data', ['-s', 'mem'], 'record with -d'), ('b.data', ['--mem-mode'], 'addresses of data'),
            ('b.data', ['-s', 'trace'], 'tracepoint data'), ('b.data', ['-s', 'prev_comm'], "no key 'prev_comm'"),
            ('b.data', ['-p', 'main'], 'record with -g'), ('m.data', ['-s', 'simd'], 'traces of Arm SPE')]:
        result = pace('report', '-i', path, *options)
        assert result.status == 2 and message in result.err, (options, result)


# not dso_size: perf has another end of the kernel's map
RECORDED = ['socket,cpu', 'addr', 'comm,addr', 'dso,cpu,comm', 'pid,dso', 'time,comm', 'cgroup,comm',
            'local_weight,comm', 'sample,dso', 'period,comm', 'overhead_sys,overhead_us,comm']


@test
def keys_of_recordings_are_those_of_perf():
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    result = run('perf', 'record', '-q', '-g', '--all-cgroups', '-e', 'cpu-clock', '--sample-cpu', '-F', '3000', '-o', 'w.data', 'sh', 'work.sh')
    if result.status:
        skip('perf cannot record control groups here')
    assert keys_are_perfs('w.data', RECORDED, '--no-children', '-g', 'none') > 100
    assert keys_are_perfs('w.data', ['comm,parent', 'dso,parent'], '--no-children', '-g', 'none', '-p', 'sys_|page_fault') > 4
    assert keys_are_perfs('w.data', ['comm', 'dso,parent'], '--no-children', '-g', 'none', '-x', '-p', 'sys_') > 2
    told = re.search(r'^# ([\d,]+) samples recorded: ([\d,]+) shown, ([\d,]+) filtered out\.$(?!\n# .* defect)',
                     pace('report', '-i', 'w.data', '-x', '-p', 'sys_', '-g', 'none').out, re.M)
    all_of_them, shown, left_out = (int(n.replace(',', '')) for n in told.groups())
    assert all_of_them == shown + left_out and shown and left_out, told.group()


@test
def fields_of_tracepoints_are_keys():
    can_record()
    perf_works()
    # Of these programs alone: of the whole machine it may be any number.
    result = run('perf', 'record', '-q', '-e', 'sched:sched_switch,kmem:kfree', '-o', 't.data', 'sh', '-c', WORK)
    if result.status:
        skip('tracepoints cannot be recorded here')
    assert keys_are_perfs('t.data', ['prev_comm', 'prev_prio,next_prio', 'comm,prev_comm', 'kfree.ptr,comm'], '-g', 'none') > 20
    assert keys_are_perfs('t.data', ['prev_state', 'trace'], '-g', 'none', '--raw-trace') > 5
    # Programs get numbers of what is printed in decimal; addresses, texts and words of the format stay texts.
    kinds = {'prev_pid': int, 'prev_prio': int, 'next_pid': int, 'prev_comm': str, 'ptr': str}
    for event in json.loads(pace('report', '--json', '-g', 'none', '-i', 't.data', '-s', ','.join(kinds)).out)['events']:
        for key, kind in kinds.items():
            values = [row[key] for row in event['rows']]
            told = {'ptr': 'kfree'}.get(key, 'sched_switch') in event['event']
            assert values and all(isinstance(value, kind) if told else value is None for value in values), (event['event'], key, values[:3])
    raw = json.loads(pace('report', '--json', '-g', 'none', '-i', 't.data', '-s', 'prev_state', '--raw-trace').out)['events'][0]['rows']
    assert all(isinstance(row['prev_state'], int) for row in raw), raw[:2]


def own_shares(nodes):
    return sum(node['own_period'] + own_shares(node.get('nodes', [])) for node in nodes)


@test
def programs_read_the_rows_that_people_see():
    recording('-g')
    for options in (['--children'], ['--no-children']):
        words = ['report', '-i', 'w.data', '-n', '-s', 'comm,dso,sym', *options]
        text = [row for _, block in perftext.parse(pace(*words).out) for row in block]
        found = json.loads(pace(*words, '--json').out)
        assert found['version'] == 3 and len(found['events']) == 1
        event = found['events'][0]
        lines = list(csv.DictReader(io.StringIO(pace(*words, '--csv').out)))
        assert len(text) == len(event['rows']) == len(lines) > 10
        assert sum(row['samples'] for row in event['rows']) == event['samples']
        assert abs(sum(row['share'] for row in event['rows']) - 100) < 0.1
        share = 'total_share' if '--children' in options else 'share'
        for row, item, line in zip(text, event['rows'], lines):
            assert row.cells[0] == f'{item[share]:.2f}%' or abs(float(row.cells[0][:-1]) - item[share]) < 0.0051, (row.cells, item[share])
            assert row.cells[-3] == item['comm'] == line['comm'] and row.cells[-2] == item['dso'] == line['dso'], (row.cells, item['dso'], line)
            name = row.cells[-1].split(' ', 1)[1].strip()
            assert name == item['symbol'] or int(name, 16) == int(item['symbol'], 16), (row.cells, item['symbol'])
            assert int(row.cells[-4]) == item['samples'] == int(line['samples'])
            for key in ('samples', 'period', 'symbol'):
                assert str(item[key]) == line[key], line
            # what ended below a row is what was sampled in it and what it called
            nodes = item['calls'] if '--children' in options else item['callers']
            period = item['total_period' if '--children' in options else 'period']
            assert own_shares(nodes) <= period, row.cells
            if '--children' in options:
                assert own_shares(nodes) == period, row.cells


# Keys that are numbers, and what kind; beside each key what else programs get of it.
NUMBERS = {'pid': int, 'tgid': int, 'cpu': int, 'time': float, 'local_weight': int, 'weight': int, 'local_ins_lat': int, 'ins_lat': int,
           'local_p_stage_cyc': int, 'p_stage_cyc': int, 'data_page_size': int, 'code_page_size': int, 'symbol_size': int, 'dso_size': int}


@test
def keys_that_are_numbers_are_numbers_for_programs():
    recording()
    handmade.write_memory('m.data')
    handmade.write_branches('b.data')
    n = 0
    for key, kind in [*NUMBERS.items(), ('cycles', int)]:
        path = 'b.data' if key == 'cycles' else 'm.data' if 'size' in key or 'weight' in key or 'lat' in key or 'stage' in key else 'w.data'
        words = ['report', '-i', path if key not in ('symbol_size', 'dso_size') else 'w.data', '--no-children', '-s', f'{key},symbol']
        rows_of_json = json.loads(pace(*words, '--json').out)['events'][0]['rows']
        rows_of_csv = list(csv.DictReader(io.StringIO(pace(*words, '--csv').out)))
        assert rows_of_json and len(rows_of_json) == len(rows_of_csv), key
        for row, line in zip(rows_of_json, rows_of_csv):
            if row[key] is None:
                assert line[key] == '' and row[key + '_reason'], (key, row, line)
                continue
            assert isinstance(row[key], kind) and kind(line[key]) == row[key], (key, row, line)
            n += 1
        if key in ('pid', 'tgid'):
            assert all(row[key + '_name'] == line[key + '_name'] != '' for row, line in zip(rows_of_json, rows_of_csv)), rows_of_csv
    assert n > 100, n


@test
def names_with_whatever_in_them_stay_one_cell():
    can_record()
    needs('g++')
    name = 'w|,"\n`q'
    with open('x.cc', 'w', encoding='utf-8') as file:
        file.write('template <class A, class B> __attribute__((noinline)) void spin(volatile A *a, B n) { for (B i = 0; i < n; i++) *a += i; }\n'
                   'int main() { int a = 0; long b = 0; spin<int, long>(&a, 20000000); spin<long, int>(&b, 20000000); }\n')
    assert run('g++', '-O1', '-o', name, 'x.cc').status == 0
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'x.data', f'./{name}').status == 0
    words = ['report', '-i', 'x.data', '-s', 'comm,symbol,dso']
    safe = name.replace('\n', '\\x0a')
    functions = {'void spin<int, long>(int volatile*, long)', 'void spin<long, int>(long volatile*, int)'}
    rows_of_json = json.loads(pace(*words, '--json', '-v').out)['events'][0]['rows']
    out = pace(*words, '--csv', '-v').out
    rows_of_csv = list(csv.DictReader(io.StringIO(out)))
    for found in (rows_of_json, rows_of_csv):
        assert {row['symbol'] for row in found if row['dso'] == safe and row['comm'] == safe} >= functions, found
    assert all(None not in row and None not in row.values() for row in rows_of_csv), out
    # A separator that is in names becomes a dot, as perf has it.
    separated = [line.split(',') for line in pace(*words, '-v', '-t', ',').out.split('\n') if line and line[0] != '#']
    assert all(len(cells) == 4 for cells in separated) and any('spin<int. long>' in cells[2] for cells in separated), separated
    # A table's cells end at a bar that nothing stands before.
    table_lines = [line for line in pace('report', '-i', 'x.data', '--md', '-v').out.split('\n') if line.startswith('|')]
    assert len({len(re.findall(r'(?<!\\)\|', line)) for line in table_lines}) == 1 and len(table_lines) > 3, table_lines


# ---- call graphs ----

# The limit of entries not where a row has a long trunk: perf cuts that off too, though nothing branches off from it.
DRAWN = [[children, '-g', how] for children in ('--no-children', '--children')
         for how in ('flat,2', 'flat,2,callee,period', 'count,caller,flat,2', '2,3,flat', 'folded,2', 'callee,folded,2,count', '2,caller,period,folded',
                     'folded,2,function,3', 'graph,2,count', 'period,2', 'fractal,count,2', 'fractal,period,2', 'fractal,10', 'fractal,10,count',
                     'graph,2,3,percent', 'count,fractal,2,2', '2,2', '2,0,graph')]


def drawing(result):
    assert result.status == 0, result
    def plain(line):
        # perf makes columns as wide as rows that it leaves out
        return re.sub(r' +', ' ', line) if re.match(r' +[\d.]+% .*\[.\] ', line) else line.replace('[...] (inlined)', '[...]').rstrip()

    # perf takes what it sums up as [...] for inlined code, if it remembers that of the branch before
    return [plain(line) for line in result.out.rstrip().split('\n') if not line.startswith('#')]


def without_shares_of_paths(lines):
    """A flat graph without the share that stands above each path: perf adds those of longer paths that begin with it, which have lines of
    their own, so that its shares sum to more than the row's; in folded graphs, where the same path is one line, it does not."""
    return [re.sub(r'^ +[\d.]+%?$', '', line) for line in lines]


def shuffled(lines):
    """What is drawn, whatever the order: branches of equal cost have none."""
    return sorted(re.sub(r'^[ |-]+', '', line) for line in lines)


def differing():
    exact = 0
    for options in DRAWN:
        words = ['-q', '-i', 'w.data', '--percent-limit', '2', '--no-inline', *options]
        ours, theirs = drawing(pace('report', *words)), drawing(run('perf', 'report', '--stdio', '-f', *words))
        if 'flat' in options[-1]:
            ours, theirs = without_shares_of_paths(ours), without_shares_of_paths(theirs)
        exact += ours == theirs
        if ours != theirs and shuffled(ours) != shuffled(theirs):
            return options, '\n'.join(ours), '\n'.join(theirs)
        assert len(ours) > 4, (options, ours)
    # Equal costs are rare.
    assert exact > len(DRAWN) / 2, exact
    return None


@test
def call_graphs_are_drawn_as_by_perf():
    can_record()
    perf_works()
    program = build_c('tests/live/programs/branching.c', 'branching', '-fno-optimize-sibling-calls')
    # The kernel's chains begin below main: a trunk as long as the limit of entries would be cut off by perf, and only there.
    # Which of several paths of equal cost a limit leaves out is not compared: a recording that has such ones is made again.
    for _ in range(8):
        assert pace('record', '-q', '--call-graph', 'fp', '-F', '2500', '-e', 'cpu-clock:u', '-o', 'w.data', program).status == 0
        found = differing()
        if not found:
            return
    assert not found, '%s\n%s\n---- perf ----\n%s' % found


@test
def paths_of_flat_graphs_sum_to_their_row():
    """Each sample is in one path; the recording has paths that others begin with."""
    can_record()
    program = build_c('tests/live/programs/branching.c', 'branching', '-fno-optimize-sibling-calls')
    assert pace('record', '-q', '-g', '-F', '2500', '-e', 'cpu-clock:u', '-o', 'w.data', program).status == 0
    rows = {}
    for line in pace('report', '-i', 'w.data', '--no-children', '--no-inline', '-g', 'flat,0').out.split('\n'):
        if re.match(r' +[\d.]+% +branching ', line):
            row = line
            rows[row] = [float(line.split('%')[0]), 0.0, 0]
        elif re.match(r' +[\d.]+%$', line):
            rows[row][1] += float(line.strip(' %'))
            rows[row][2] += 1
    assert len(rows) >= 4 and max(paths for _, _, paths in rows.values()) > 2, rows
    assert all(abs(whole - sum_of_paths) < 0.006 * (paths + 1) for whole, sum_of_paths, paths in rows.values()), rows


@test
def filters_that_nothing_passes_say_what_there_is():
    handmade.write_branches('b.data')
    for options, message in ((['--comms', 'made,mad'], "no sampled thread is called 'mad': 'pace report -s comm'"), (['-d', 'mode'], "no sampled file is called 'mode'"),
                             (['-S', 'nothing'], "no sampled function is called 'nothing'"), (['--time', '5,6'], "'pace script -F time' shows when they are")):
        result = pace('report', '--no-branch-stack', '-i', 'b.data', *options)
        assert result.status == 0 and message in result.err and result.err.count('note: ') == 1, (options, result)
    recording()
    result = pace('report', '-i', 'w.data', '--time', '5,6')
    first, last = re.search(r'--time .5,6. has no samples: the recording\'s are from (\S+) to (\S+)', result.err).groups()
    # Told in microseconds: the last one may be a little after.
    assert 'samples recorded, all shown' in pace('report', '-i', 'w.data', '--time', f'{first},{float(last) + 0.00001:.6f}').out
    result = pace('report', '--no-branch-stack', '-i', 'b.data', '--comms', 'made', '--time', '0,1')
    assert 'note' not in result.err, result


@test
def limits_of_call_graphs_are_checked():
    handmade.write_branches('b.data')
    for how, message in [('flat,-1', 'not a threshold'), ('folded,101', 'not a threshold'), ('nan', 'not a threshold'), ('0.5,2.5', 'not a number of entries'),
                         ('0.5,1e99', 'not a number of entries'), ('1,2,3', 'given already'), ('adress', 'none of')]:
        result = pace('report', '-i', 'b.data', '-g', how)
        assert result.status == 2 and message in result.err, (how, result)


# ---- rows below rows ----

def nested(result):
    """Rows with the names above them -> figures; "no entry" where all below is left out."""
    assert result.status == 0, result
    found, path = [], []
    for line in result.out.split('\n'):
        row = re.match(r'( *[\d.]+%) +(\d+) +(.*)', line)
        if row:
            level = (len(row[1]) - len('    12.34%')) // 3
            path = path[:level] + [re.sub(r' +', ' ', row[3].strip())]
            assert len(path) == level + 1, (line, path)
            found.append((*path, row[1].strip(), row[2]))
        elif 'no entry' in line:
            found.append((*path, line.strip()))
    return sorted(row for row in found if '@plt' not in ' '.join(row))


def without_heads(theirs, ours, result):
    """The head of a procedure linkage table has a name in pace only: as many addresses that pace does not show are left out."""
    n, kept = result.out.count('_dl_runtime_resolve@plt'), []
    for row in theirs:
        is_head = n and row not in ours and any(re.match(r'\[.\] 0x', cell) for cell in row)
        n -= bool(is_head)
        kept += [] if is_head else [row]
    return kept


@test
def rows_below_rows_are_those_of_perf():
    recording()
    for options in (['-s', 'comm,dso'], ['-s', 'dso,comm,sym'], ['--percent-limit', '3'], ['-s', 'cpu,comm,dso', '--percent-limit', '1'],
                    ['-s', 'comm'], ['-c', 'sort,md5sum', '--percentage', 'relative', '-s', 'comm,dso']):
        words = ['-n', '--hierarchy', '-i', 'w.data', *options]
        result = pace('report', '--no-unnamed-functions', *words)
        ours = nested(result)
        theirs = without_heads(nested(run('perf', 'report', '--stdio', '-f', *words)), ours, result)
        assert ours == theirs, (options, [row for row in ours if row not in theirs][:10], [row for row in theirs if row not in ours][:10])
        assert len(ours) > 1


@test
def what_cannot_be_rows_below_rows_is_refused():
    handmade.write_branches('b.data')
    for options in (['--json'], ['--csv'], ['--md'], ['-t', ';'], ['--ci'], ['-F', 'comm'], ['--children'], ['--budget', '20']):
        result = pace('report', '-i', 'b.data', '--hierarchy', *options)
        assert result.status == 2 and '--hierarchy' in result.err, (options, result)


@test
def a_separator_stands_between_cells_and_never_in_them():
    recording()
    out = pace('report', '-i', 'w.data', '-n', '-t', '.').out
    lines = out.strip().split('\n')
    assert lines[0] == '# Overhead.Samples.Command.Shared Object.Symbol'
    out = pace('report', '-i', 'w.data', '-n', '-t', ';').out
    assert len(out.split('\n')) > 10 and all(line.count(';') == 4 for line in out.strip().split('\n')), out


@test
def a_terminal_clips_the_last_column_and_nothing_else_does():
    name = 'f' + 'x' * 700
    open('long.c', 'w', encoding='utf-8').write(f'''
static volatile unsigned long sink;
__attribute__((noinline)) void {name}(void) {{ for (unsigned long i = 0; i < 300000000; i++) sink += i; }}
int main(void) {{ {name}(); return 0; }}''')
    needs('gcc')
    assert run('gcc', '-O1', '-o', 'long', 'long.c').status == 0
    can_record()
    assert pace('record', '-q', '-e', 'cpu-clock:u', '-o', 'l.data', './long').status == 0
    words = ['report', '-q', '--no-children', '-i', 'l.data']
    piped = pace(*words).out.split('\n')
    assert max(len(line) for line in piped) > 700, piped
    ours, theirs = pty.openpty()
    for columns in (100, 60, 20):
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        with subprocess.Popen([PACE, *words], stdout=theirs, env=dict(os.environ, NO_COLOR='1')) as shown:
            shown.wait()
        lines = os.read(ours, 1 << 20).decode().replace('\r', '').split('\n')
        assert len(lines) == len(piped) and all(long.startswith(re.sub(r'(\u2026|\.\.\.)$', '', line)) for line, long in zip(lines, piped)), (lines, piped)
        # The other columns stay, and some of the last one.
        assert max(len(line) for line in lines) == max(columns, min(line.index('[.]') for line in piped if name in line) + 16), (columns, lines)
    os.close(theirs)
    os.close(ours)


main()
