#!/usr/bin/env python3
"""`pace report` beside `perf report`: which samples and rows are shown, and the figures and texts of their columns.

Not compared: functions of the procedure linkage table, to which perf gives one name; columns that perf leaves out because all
rows have the same in it. With --children perf lets what was filtered out count for callers or not, as it happens to meet the
samples first; pace counts what is left."""
import csv
import io
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402,F403
import perftext  # noqa: E402

WORK = '''for i in 1 2 3; do seq 1 30000 | sort -R | md5sum; done
awk 'BEGIN { for (i = 0; i < 300000; i++) s = s + sqrt(i) }'
'''


def recording(*options):
    can_record()
    perf_works()
    with open('work.sh', 'w', encoding='utf-8') as file:
        file.write(WORK)
    result = pace('record', '-q', '-F', '5000', '-e', 'cpu-clock', '--sample-cpu', *options, '-o', 'w.data', 'sh', 'work.sh')
    assert result.status == 0, result


def rows(result):
    """Rows as tuples of cells, of all events; in which order rows of equal shares stand is not compared."""
    assert result.status == 0, result
    found = [tuple(re.sub(r' +', ' ', cell) for cell in row.cells) for _, block in perftext.parse(result.out) for row in block]
    return sorted(row for row in found if '@plt' not in ' '.join(row))


def same(path, *options):
    """How many rows both show; fails where they differ."""
    ours = rows(pace('report', '--no-unnamed-functions', '-i', path, *options))
    theirs = rows(run('perf', 'report', '--stdio', '-f', '-i', path, *options))
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
    ['--symbol-filter', 'mem', '--percentage', 'relative'],
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
def processes_and_threads_are_picked_by_number():
    recording()
    pids = re.findall(r' (\d+):(?:sort|awk|mawk|gawk)\b', pace('report', '-i', 'w.data', '-s', 'pid').out)
    assert pids
    # by thread: into a row that another thread shares perf counts what the filter leaves out
    for option in ('--pid', '--tid'):
        assert same('w.data', '-n', '-s', 'pid,dso,sym', option, ','.join(pids)) > 3
        assert same('w.data', '-n', '-s', 'pid,dso,sym', option, pids[0], '--percentage', 'relative') > 1


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
    ['-s', 'time,cpu', '--time-quantum', '1s'],
    ['-s', 'time,sym', '--time-quantum', '700us'],
    ['-s', 'local_weight,comm'],
    ['-s', 'weight,dso'],
    ['-s', 'comm,code_page_size'],
    ['-s', 'code_page_size,dso,sym'],
]


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
    # perf 6.1 puts two columns behind sizes that only recordings of branches fill
    theirs = run('perf', 'report', '--stdio', '-f', '-i', 'w.data', '-s', 'dso,sym,symbol_size')
    theirs.out = re.sub(r' +- +- *$', '', theirs.out, flags=re.M)
    ours = pace('report', '--no-unnamed-functions', '-i', 'w.data', '-s', 'dso,sym,symbol_size')

    def cells(out):
        return sorted(tuple(line.split()) for line in out.split('\n') if re.match(r' +\d', line) and '@plt' not in line)
    assert len(cells(ours.out)) > 10 and cells(ours.out) == cells(theirs.out), (ours, theirs)


def own_shares(nodes):
    return sum(node['own_period'] + own_shares(node.get('nodes', [])) for node in nodes)


@test
def programs_read_the_rows_that_people_see():
    recording('-g')
    for options in (['--children'], ['--no-children']):
        words = ['report', '-i', 'w.data', '-n', '-s', 'comm,dso,sym', *options]
        text = [row for _, block in perftext.parse(pace(*words).out) for row in block]
        found = json.loads(pace(*words, '--json').out)
        assert found['version'] == 1 and len(found['events']) == 1
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


@test
def a_separator_stands_between_cells_and_never_in_them():
    recording()
    out = pace('report', '-i', 'w.data', '-n', '-t', '.').out
    lines = out.strip().split('\n')
    assert lines[0] == '# Overhead.Samples.Command.Shared Object.Symbol'
    out = pace('report', '-i', 'w.data', '-n', '-t', ';').out
    assert len(out.split('\n')) > 10 and all(line.count(';') == 4 for line in out.strip().split('\n')), out


main()
